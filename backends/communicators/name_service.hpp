#pragma once

namespace muster {

/// While it lives, this thread asks no name server. c10d looks up the name of each address that it
/// connects to, for messages; where the server does not answer that takes 5 s and more.
class NameServiceOff {
 public:
  NameServiceOff() noexcept;
  ~NameServiceOff();
  NameServiceOff(const NameServiceOff&) = delete;
  NameServiceOff& operator=(const NameServiceOff&) = delete;

 private:
  int servers_;
};

}  // namespace muster
