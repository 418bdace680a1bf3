#include "diagnose/symbols.hpp"

#include "diagnose/frame_table.hpp"
#include "diagnose/symbol_table.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <optional>

namespace muster::launcher {
namespace {

constexpr std::size_t longest_name = 100;

/// By the file itself where the memory may not be read.
std::optional<std::uint64_t> bias_of(RemoteMemory& memory, const MemoryMap& map,
                                     const Mapping& mapping) {
  if (const auto bias = load_bias(memory, map, mapping)) return bias;
  if (mapping.path.front() != '/') return std::nullopt;
  const auto* const start = map.beginning_of(mapping);
  const auto first = start ? first_address_in(mapping.path, mapping.inode) : std::nullopt;
  return first ? std::optional(start->start - *first) : std::nullopt;
}

}  // namespace

void Symbols::add(RemoteMemory& memory, const MemoryMap& map, StackFrame& frame) {
  const auto* const mapping = map.find(frame.address);
  if (!mapping || mapping->path.empty()) return;
  frame.module = mapping->path.substr(mapping->path.rfind('/') + 1);
  const auto bias = bias_of(memory, map, *mapping);
  if (!bias) return;
  frame.offset = frame.address - *bias;
  if (mapping->path.front() != '/') return;
  auto& file = files_[mapping->path];
  file.inode = mapping->inode;
  file.frames[frame.offset].push_back(&frame);
}

void Symbols::resolve(Deadline deadline) {
  for (auto& [path, file] : files_) {
    if (std::chrono::steady_clock::now() >= deadline) return;
    std::vector<std::uint64_t> offsets;
    for (const auto& [offset, frames] : file.frames) offsets.push_back(offset);
    for (const auto& [offset, symbol] : symbols_in(path, file.inode, offsets)) {
      for (auto* const frame : file.frames[offset]) frame->function = readable_function(symbol);
    }
  }
}

std::string readable_function(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;  // "f" would be taken for the type float.
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0) return symbol;
  const std::string whole = demangled.get();
  std::string text;
  int angles = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    const std::string_view rest = std::string_view(whole).substr(at);
    if (whole[at] == '{' && angles == 0) {
      const auto end = std::min(whole.find('}', at), whole.size() - 1);  // "{lambda(int)#1}"
      text += whole.substr(at, end - at + 1);
      at = end;
    } else if (rest.starts_with("operator()")) {
      if (angles == 0) text += "operator()";
      at += 9;
    } else if (angles == 0 && rest.starts_with("(anonymous namespace)")) {
      text += "(anonymous)";
      at += 20;
    } else if (whole[at] == '<' && !text.ends_with("operator")) {
      if (angles++ == 0) text += "<>";
    } else if (whole[at] == '>' && angles > 0) {
      --angles;
    } else if (angles == 0 && whole[at] == '(' && !text.empty()) {
      // What a local class or lambda belongs to ends with its parameters too, and goes on.
      const auto end = whole.find(")::", at);
      if (end == whole.npos) break;
      at = end;
    } else if (angles == 0) {
      text += whole[at];
    }
  }
  if (const auto space = text.find_last_of(' ');
      space != text.npos && !text.ends_with(' ') && text.find("operator") == text.npos)
    text.erase(0, space + 1);  // A template's name begins with what it returns.
  if (text.size() > longest_name) text = "..." + text.substr(text.size() - longest_name);
  return text;
}

}  // namespace muster::launcher
