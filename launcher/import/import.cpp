#include "import/import.hpp"

#include <muster/error.hpp>

#include "import/accelerate.hpp"
#include "import/deepspeed.hpp"
#include "import/hostfile.hpp"
#include "screen/printable.hpp"
#include "text.hpp"
#include "unique_fd.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

constexpr const char* kinds =
    "expected accelerate's or DeepSpeed's configuration, or a hostfile; --from says which";

bool looks_like_json(std::string_view text) {
  const auto start = trim(text).substr(0, 1);
  return start == "{" || start == "[" || start == "/";
}

/// JSON is YAML, but for comments; where both fail, JSON was meant if it looks so.
DocumentNode parse_either(std::string_view text, const std::string& file) {
  if (!looks_like_json(text)) return parse_yaml(text, file);
  try {
    return parse_json(text, file);
  } catch (const ConfigError&) {
    try {
      return parse_yaml(text, file);
    } catch (const ConfigError&) {
    }
    throw;
  }
}

ImportKind kind_of(const DocumentNode& root, const std::string& file) {
  if (is_mlx_hosts(root)) return ImportKind::hostfile;
  if (root.kind == DocumentNode::Kind::map) {
    if (is_accelerate(root)) return ImportKind::accelerate;
    if (is_deepspeed(root)) return ImportKind::deepspeed;
  }
  throw ConfigError(file + ": " + kinds);
}

/// A hostfile is YAML too, of one long word; but no other file is a hostfile.
bool is_hostfile(std::string_view text) {
  try {
    return !parse_hostfile(text, "").empty();
  } catch (const ConfigError&) {
    return false;
  }
}

Import import_hostfile(std::string_view text, const std::string& file, std::string_view here) {
  if (!looks_like_json(text) || is_hostfile(text)) {
    return import_hosts(parse_hostfile(text, file), file, here);
  }
  const auto root = parse_json(text, file);
  if (!is_mlx_hosts(root)) throw ConfigError(file + ": expected a list of hosts with \"ssh\"");
  return import_hosts(mlx_hosts(root, file), file, here);
}

}  // namespace

ImportKind import_kind(std::string_view word) {
  if (word == "accelerate") return ImportKind::accelerate;
  if (word == "deepspeed") return ImportKind::deepspeed;
  if (word == "hostfile") return ImportKind::hostfile;
  throw ConfigError("--from " + printable(word) + ": expected accelerate, deepspeed or hostfile");
}

Import import_text(std::string_view text, const std::string& file, std::optional<ImportKind> kind,
                   std::string_view here) {
  if (!kind && is_hostfile(text)) kind = ImportKind::hostfile;
  if (kind == ImportKind::hostfile) return import_hostfile(text, file, here);
  const auto root = parse_either(text, file);
  switch (kind ? *kind : kind_of(root, file)) {
    case ImportKind::accelerate:
      return import_accelerate(root, file);
    case ImportKind::deepspeed:
      return import_deepspeed(root, file);
    case ImportKind::hostfile:
      return import_hosts(mlx_hosts(root, file), file, here);
  }
  return {};
}

std::string read_foreign_file(const std::string& path) {
  constexpr std::size_t largest = 1 << 20;
  const auto fail = [&](const std::string& what) { throw ConfigError(path + ": " + what); };
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (fd.get() < 0) fail(errno == ENOENT ? "no such file" : std::strerror(errno));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) fail(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) fail("is no regular file");
  std::string text;
  char bytes[16384];
  for (ssize_t count = 0; (count = ::read(fd.get(), bytes, sizeof bytes)) != 0;) {
    if (count < 0 && errno != EINTR) fail(std::strerror(errno));
    if (count > 0) text.append(bytes, static_cast<std::size_t>(count));
    if (text.size() > largest) fail("larger than 1 MiB, which no such file is");
  }
  if (text.find('\0') != text.npos) fail("is not text");
  return text;
}

}  // namespace muster::launcher
