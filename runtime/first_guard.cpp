#include <muster/error.hpp>
#include <muster/first_guard.hpp>
#include <muster/log.hpp>

#include "collectives.hpp"
#include "internals.hpp"

#include <exception>

namespace muster {
namespace {

constexpr std::string_view passed = "an exception passed";

std::string_view name_of(bool of_each_host) {
  return of_each_host ? "local_main_process_first" : "main_process_first";
}

}  // namespace

FirstGuard::FirstGuard(const Ranks& ranks, bool of_each_host)
    : ranks_(ranks),
      of_each_host_(of_each_host),
      exceptions_(std::uncaught_exceptions()),
      busy_(name_of(of_each_host)) {
  if (is_first()) return;
  const auto failure = meet("");
  if (failure.empty()) return;
  throw Error(failure + " failed in " + std::string(name_of(of_each_host)));
}

FirstGuard::~FirstGuard() {
  if (!is_first()) return;
  try {
    (void)meet(std::uncaught_exceptions() > exceptions_ ? passed : "");
  } catch (const std::exception& error) {
    log(LogLevel::warning, std::string(name_of(of_each_host_)) +
                               ": the other ranks could not be let in: " + error.what());
  }
}

bool FirstGuard::is_first() const noexcept {
  return of_each_host_ ? ranks_.is_local_main_process() : ranks_.is_main_process();
}

/// Who failed; empty: nobody.
std::string FirstGuard::meet(std::string_view outcome) const {
  auto& world = Internals::of(ranks_).mesh()->world();
  const auto outcomes = collectives::gather_object(world, outcome, name_of(of_each_host_));
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    if (!outcomes[rank].empty()) return "rank " + std::to_string(rank);
  }
  return {};
}

}  // namespace muster
