#include "error_file.hpp"

#include "supervise/kernel.hpp"
#include "unique_fd.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t ns_in_second = 1'000'000'000;

std::int64_t on_monotonic_clock(const timespec& written) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const std::int64_t age =
      (now.tv_sec - written.tv_sec) * ns_in_second + now.tv_nsec - written.tv_nsec;
  return monotonic_ns() - age;
}

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// {"message": TEXT} or {"message": {"message": TEXT, "extraInfo": {"py_callstack": TEXT}}}
ErrorFile parse(const std::string& text) {
  ErrorFile file;
  const auto json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return file;
  file.message = text_in(json, "message");
  const auto inner = json.find("message");
  if (inner == json.end() || !inner->is_object()) return file;
  file.message = text_in(*inner, "message");
  const auto extra = inner->find("extraInfo");
  if (extra != inner->end() && extra->is_object())
    file.call_stack = text_in(*extra, "py_callstack");
  return file;
}

}  // namespace

std::optional<ErrorFile> read_error_file(const std::string& path, std::int64_t since_ns) {
  constexpr std::size_t most = std::size_t{1} << 20U;
  // A filesystem's clock may be behind by a tick of the kernel's.
  constexpr std::int64_t tick_ns = 10'000'000;
  struct stat facts {};
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  const std::int64_t written = on_monotonic_clock(facts.st_mtim);
  if (written < since_ns - tick_ns) return std::nullopt;
  std::string text(std::min<std::size_t>(static_cast<std::size_t>(facts.st_size), most), '\0');
  const auto size = ::read(file.get(), text.data(), text.size());
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  ErrorFile found = parse(text);
  if (found.message.empty()) return std::nullopt;
  found.written_ns = written;
  return found;
}

}  // namespace muster::launcher
