#include "start_fault.hpp"

#include <muster/error.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace muster::launcher {
namespace {

constexpr int not_found = static_cast<int>(ExitCode::not_found);
constexpr int not_executable = static_cast<int>(ExitCode::not_executable);
constexpr int internal = static_cast<int>(ExitCode::internal);

/// What the file's #! line asks for; empty without one.
std::string interpreter_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char head[256] = {};
  file.read(head, sizeof head - 1);
  if (head[0] != '#' || head[1] != '!') return {};
  std::string line(head + 2);
  line.resize(std::min(line.size(), line.find('\n')));
  const auto start = line.find_first_not_of(" \t");
  if (start == std::string::npos) return {};
  return line.substr(start, line.find_first_of(" \t\r", start) - start);
}

StartFault no_such_program(const std::string& name, const std::string& path) {
  const std::string interpreter = interpreter_of(path);
  if (!interpreter.empty()) {
    return {not_executable, path + " cannot be executed: its interpreter " + interpreter +
                                " (the #! line) does not exist"};
  }
  if (std::ifstream(path).good() && name.find('/') != std::string::npos) {
    return {not_executable, path +
                                " cannot be executed: the loader that it names does not exist "
                                "(built for another system?)"};
  }
  if (name.find('/') != std::string::npos || name.empty())
    return {not_found, "program '" + name + "' not found: no such file"};
  std::string message = "program '" + name + "' not found in PATH";
  if (std::ifstream(name).good()) message += "; did you mean ./" + name + "?";
  return {not_found, message};
}

}  // namespace

StartFault describe_start_fault(const std::string& name, const std::string& path, StartStage stage,
                                int error) {
  if (stage == StartStage::fork) {
    return {internal, std::string("cannot start another process: ") + std::strerror(error) +
                          (error == EAGAIN ? " (limits: ulimit -u, the cgroup's pids.max)" : "")};
  }
  if (stage != StartStage::exec)
    return {internal, "cannot prepare the process of " + name + ": " + std::strerror(error)};
  if (error == ENOENT || error == ENOTDIR) return no_such_program(name, path);
  if (error == EISDIR) return {not_executable, path + " cannot be executed: it is a folder"};
  if (error == EACCES) {
    return {not_executable,
            path + " cannot be executed: permission denied (chmod +x, or a noexec mount?)"};
  }
  if (error == ENOEXEC)
    return {not_executable, path + " cannot be executed: not a program for this machine"};
  return {not_executable, path + " cannot be executed: " + std::strerror(error)};
}

std::string describe_start_warning(int rank, StartStage stage, int error) {
  if (stage == StartStage::affinity || stage == StartStage::memory) {
    return std::string(stage == StartStage::affinity
                           ? "ranks are not bound to their CPUs"
                           : "ranks do not get the memory of their NUMA node first") +
           ": " + std::strerror(error) + " (denied by a sandbox?); they run anyway";
  }
  return "rank " + std::to_string(rank) +
         " does not get the limits that muster was started with: " + std::strerror(error) +
         "; it runs without";
}

}  // namespace muster::launcher
