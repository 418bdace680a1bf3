#include "token.hpp"

#include <muster/contract.hpp>
#include <muster/error.hpp>

#include "unique_fd.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

namespace muster::launcher {
namespace {

constexpr std::size_t shortest = 16, longest = 4096;
constexpr std::string_view advice =
    "head -c 32 /dev/urandom | base64 makes one that nobody can guess";

std::string without_line_ends(std::string text) {
  constexpr std::string_view ends = "\r\n";
  text.erase(text.find_last_not_of(ends) + 1);
  return text.erase(0, std::min(text.find_first_not_of(ends), text.size()));
}

std::string read_file(const std::string& path, const std::string& option, std::string& note) {
  const auto fault = [&](const std::string& why) { return ConfigError(option + ": " + why); };
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat facts {};
  if (!file || ::fstat(file.get(), &facts) != 0) throw fault(std::strerror(errno));
  if (S_ISDIR(facts.st_mode)) throw fault(std::strerror(EISDIR));
  std::string text(longest + 1, '\0');
  std::size_t size = 0;
  for (ssize_t part = 1; part > 0 && size < text.size(); size += static_cast<std::size_t>(part)) {
    part = ::read(file.get(), text.data() + size, text.size() - size);
    if (part < 0) throw fault(std::strerror(errno));
  }
  text.resize(size);
  if (size > longest) throw fault(fmt::format("longer than {} bytes", longest));
  if ((facts.st_mode & (S_IRGRP | S_IROTH)) != 0) {
    note = fmt::format("{}: others may read it (mode {:o}); chmod 600 {}", option,
                       facts.st_mode & 07777U, path);
  }
  return text;
}

Digest proof(const Token& token, std::string_view who, const Digest& one, const Digest& other,
             std::string_view rest) {
  std::string message(who);
  for (const auto* nonce : {&one, &other}) message += bytes_of(*nonce);
  message += bytes_of(sha256(rest));
  return hmac_sha256(token.secret, message);
}

}  // namespace

Token read_token(const LaunchSettings& settings, const SettingNames& names,
                 const Environment& environment) {
  const std::string option = names.of("launch.token_file") + " " + settings.token_file;
  Token token;
  const auto variable = environment.find(std::string(contract::token));
  const bool in_variable = variable != environment.end() && !variable->second.empty();
  if (in_variable && !settings.token_file.empty()) {
    throw ConfigError("MUSTER_TOKEN and " + names.of("launch.token_file") +
                      " decide the same thing: give one of them");
  }
  if (in_variable) {
    token.from = contract::token;
    token.secret = without_line_ends(variable->second);
  } else if (!settings.token_file.empty()) {
    token.from = option;
    token.secret = without_line_ends(read_file(settings.token_file, option, token.note));
  } else {
    return token;
  }
  if (token.secret.size() < shortest) {
    throw ConfigError(fmt::format("{}: has {} characters, and at least {} are needed; {}",
                                  token.from, token.secret.size(), shortest, advice));
  }
  return token;
}

Digest proof_of_host(const Token& token, const Digest& guests_nonce, const Digest& hosts_nonce) {
  return proof(token, "muster node 0", guests_nonce, hosts_nonce, "");
}

Digest proof_of_guest(const Token& token, const Digest& guests_nonce, const Digest& hosts_nonce,
                      std::string_view join) {
  return proof(token, "muster joins", guests_nonce, hosts_nonce, join);
}

Digest proof_of_inquiry(const Token& token, std::string_view rest) {
  return proof(token, "muster asks", {}, {}, rest);
}

Digest proof_of_answer(const Token& token, std::string_view rest) {
  return proof(token, "muster answers", {}, {}, rest);
}

Digest random_nonce() {
  Digest nonce;
  if (::getrandom(nonce.data(), nonce.size(), 0) != static_cast<ssize_t>(nonce.size()))
    throw Error(std::string("cannot get random bytes: ") + std::strerror(errno));
  return nonce;
}

}  // namespace muster::launcher
