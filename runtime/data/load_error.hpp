#pragma once

#include <muster/data_loader_options.hpp>

#include "data/index_stream.hpp"

#include <cstdint>
#include <exception>
#include <optional>

namespace muster {

/// Where a load failed.
struct LoadPlace {
  const IndexBatch& batch;
  std::optional<std::int64_t> sample;  ///< Nothing: the batch was read as a whole.
  std::int64_t epoch;
  Shard shard;
};

/// The error that the loop gets for `cause`: an Error with the place and the text, which keeps a
/// muster::Error's exit code and has the cause nested in it (std::rethrow_if_nested).
std::exception_ptr located(const std::exception_ptr& cause, const LoadPlace& place);

}  // namespace muster
