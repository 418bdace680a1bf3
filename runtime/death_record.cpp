#include "death_record.hpp"

#include <muster/control.hpp>
#include <muster/error.hpp>

#include <array>
#include <cstdlib>
#include <cxxabi.h>
#include <exception>
#include <memory>
#include <signal.h>
#include <string>
#include <typeinfo>

namespace muster {
namespace {

struct FatalSignal {
  int number;
  const char* name;
};
constexpr std::array fatal_signals{FatalSignal{SIGSEGV, "SIGSEGV"}, FatalSignal{SIGABRT, "SIGABRT"},
                                   FatalSignal{SIGBUS, "SIGBUS"}, FatalSignal{SIGFPE, "SIGFPE"},
                                   FatalSignal{SIGILL, "SIGILL"}};

std::terminate_handler previous_terminate = nullptr;

std::string type_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? readable.get() : type.name();
}

struct Death {
  std::string reason = "exception";
  std::string text;  ///< "std::runtime_error: label 11 is not in [0, 10)"
};

Death present_death() {
  const auto* type = abi::__cxa_current_exception_type();
  if (!type) return {.text = "std::terminate was called without an exception"};
  const std::string name = type_name(*type);
  try {
    std::rethrow_exception(std::current_exception());
  } catch (const CommunicationError& error) {
    // Most often another rank died before: the launcher shall not blame this one.
    return {"communication", name + ": " + error.what()};
  } catch (const std::exception& error) {
    return {.text = name + ": " + error.what()};
  } catch (...) {
    return {.text = name};
  }
}

[[noreturn]] void on_terminate() {
  const auto death = present_death();
  Control::instance().death(death.reason, death.text);
  if (previous_terminate) previous_terminate();
  std::abort();
}

/// On a stack of its own, with SA_RESETHAND: the signal's action is the default again in here.
void on_fatal_signal(int number, siginfo_t* info, void*) {
  for (const auto& fatal : fatal_signals) {
    if (fatal.number == number) Control::instance().death_by_signal(fatal.name);
  }
  // An instruction that faulted does so again, with the right core file; a signal that somebody
  // sent would be lost.
  if (info->si_code <= 0) raise(number);
}

/// Overflow of the stack is fatal too, and leaves no room for a handler. Threads that the program
/// makes later have no such stack, and are reported unless theirs overflows.
void make_signal_stack() {
  static std::array<char, 64 * 1024> memory;
  stack_t present{};
  if (sigaltstack(nullptr, &present) == 0 && (present.ss_flags & SS_DISABLE) == 0) return;
  stack_t stack{};
  stack.ss_sp = memory.data();
  stack.ss_size = memory.size();
  sigaltstack(&stack, nullptr);
}

void handle_unless_handled(int number) {
  struct sigaction present {};
  if (sigaction(number, nullptr, &present) != 0 || (present.sa_flags & SA_SIGINFO) != 0 ||
      present.sa_handler != SIG_DFL) {
    return;
  }
  struct sigaction action {};
  action.sa_sigaction = on_fatal_signal;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

bool install() {
  previous_terminate = std::set_terminate(on_terminate);
  make_signal_stack();
  for (const auto& fatal : fatal_signals) handle_unless_handled(fatal.number);
  return true;
}

}  // namespace

void record_death() {
  if (!Control::instance().connected()) return;
  static const bool installed = install();
  static_cast<void>(installed);
}

}  // namespace muster
