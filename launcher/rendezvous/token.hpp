#pragma once

#include <muster/setting_names.hpp>
#include <muster/settings.hpp>
#include <muster/world.hpp>

#include "rendezvous/hmac_sha256.hpp"

#include <string>
#include <string_view>

namespace muster::launcher {

/// The secret that the launchers of one job share.
struct Token {
  std::string secret;  ///< Empty: there is none.
  std::string from;    ///< "MUSTER_TOKEN", "--token-file FILE"
  std::string note;    ///< One line, if others may read the file; else empty.

  explicit operator bool() const noexcept { return !secret.empty(); }
};

/// From the file of `token_file`, or MUSTER_TOKEN; line ends around it do not count.
/// Throws ConfigError if both are given, or for one that cannot be read or is easily guessed.
Token read_token(const LaunchSettings& settings, const SettingNames& names,
                 const Environment& environment);

/// What proves that node 0 has the token, and that who joins with these bytes has it: good for one
/// connection, whose nonces are in it.
Digest proof_of_host(const Token& token, const Digest& guests_nonce, const Digest& hosts_nonce);
Digest proof_of_guest(const Token& token, const Digest& guests_nonce, const Digest& hosts_nonce,
                      std::string_view join);

/// The same of datagrams: `rest` is all else that is in one, its nonce too.
Digest proof_of_inquiry(const Token& token, std::string_view rest);
Digest proof_of_answer(const Token& token, std::string_view rest);

/// 32 bytes that nobody can foresee. Throws Error if the kernel has none.
Digest random_nonce();

}  // namespace muster::launcher
