#include "data/load_error.hpp"

#include <muster/error.hpp>

#include <c10/util/Exception.h>

#include <algorithm>
#include <string>

namespace muster {
namespace {

std::string samples_of(const IndexBatch& batch) {
  if (batch.indices.empty()) return "";
  constexpr std::size_t shown = 8;
  std::string text = " (samples";
  for (std::size_t i = 0; i < std::min(shown, batch.indices.size()); ++i) {
    text += (i == 0 ? " " : ", ") + std::to_string(batch.indices[i]);
  }
  return text + (batch.indices.size() > shown ? ", ...)" : ")");
}

std::string place_text(const LoadPlace& place) {
  std::string text = "data loader";
  if (place.shard.count > 1) text += ", rank " + std::to_string(place.shard.index);
  text +=
      ", epoch " + std::to_string(place.epoch) + ", batch " + std::to_string(place.batch.number);
  if (!place.sample) return text + samples_of(place.batch) + ": ";
  return text + ", sample " + std::to_string(*place.sample) + ": ";
}

std::exception_ptr nested(const std::string& message, ExitCode code) {
  try {
    std::throw_with_nested(Error(message, code));
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

std::exception_ptr located(const std::exception_ptr& cause, const LoadPlace& place) {
  const std::string where = place_text(place);
  try {
    std::rethrow_exception(cause);
  } catch (const Error& error) {
    return nested(where + error.what(), error.exit_code());
  } catch (const c10::Error& error) {
    return nested(where + error.what_without_backtrace(), ExitCode::internal);
  } catch (const std::exception& error) {
    return nested(where + error.what(), ExitCode::internal);
  } catch (...) {
    return nested(where + "the data set threw something that is no std::exception",
                  ExitCode::internal);
  }
}

}  // namespace muster
