#include "diagnose/symbol_table.hpp"

#include "unique_fd.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace muster::launcher {
namespace {

constexpr std::size_t symbols_at_once = 8192;
constexpr std::size_t most_sections = 1000;

template <class Value>
bool read_at(int file, std::uint64_t offset, Value* to, std::size_t count = 1) {
  const auto bytes = static_cast<ssize_t>(count * sizeof(Value));
  return ::pread(file, to, count * sizeof(Value), static_cast<off_t>(offset)) == bytes;
}

/// Nothing if the file is not the one with `inode`.
UniqueFd open_file(const std::string& path, std::uint64_t inode) {
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  const bool right = file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                     status.st_ino == inode;
  return right ? std::move(file) : UniqueFd();
}

bool read_header(int file, Elf64_Ehdr& header) {
  return read_at(file, 0, &header) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64;
}

std::vector<Elf64_Shdr> sections_of(int file) {
  Elf64_Ehdr header{};
  if (!read_header(file, header) || header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_shnum > most_sections)
    return {};
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!read_at(file, header.e_shoff, sections.data(), sections.size())) return {};
  return sections;
}

/// Where a function's name is, and where it begins: of several the last, which is the innermost.
struct Found {
  std::uint64_t start = 0;
  std::uint32_t name = 0;
};

void take(const Elf64_Sym& symbol, const std::vector<std::uint64_t>& addresses,
          std::map<std::uint64_t, Found>& found) {
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) return;
  const auto end = symbol.st_value + std::max<std::uint64_t>(symbol.st_size, 1);
  for (auto at = std::ranges::lower_bound(addresses, symbol.st_value);
       at != addresses.end() && *at < end; ++at) {
    const auto [entry, is_new] = found.try_emplace(*at);
    if (is_new || entry->second.start < symbol.st_value)
      entry->second = {symbol.st_value, symbol.st_name};
  }
}

std::string name_at(int file, const Elf64_Shdr& names, std::uint32_t offset) {
  char text[1024];
  const ssize_t size =
      ::pread(file, text, sizeof text, static_cast<off_t>(names.sh_offset + offset));
  return size > 0 ? std::string(text, ::strnlen(text, static_cast<std::size_t>(size))) : "";
}

void read_table(int file, const Elf64_Shdr& table, const Elf64_Shdr& names,
                const std::vector<std::uint64_t>& addresses,
                std::map<std::uint64_t, std::string>& result) {
  std::map<std::uint64_t, Found> found;
  std::vector<Elf64_Sym> symbols(symbols_at_once);
  const auto count = table.sh_size / sizeof(Elf64_Sym);
  for (std::uint64_t at = 0; at < count; at += symbols_at_once) {
    const auto part = std::min<std::uint64_t>(symbols_at_once, count - at);
    if (!read_at(file, table.sh_offset + at * sizeof(Elf64_Sym), symbols.data(), part)) break;
    for (std::size_t i = 0; i < part; ++i) take(symbols[i], addresses, found);
  }
  for (const auto& [address, symbol] : found) {
    auto name = name_at(file, names, symbol.name);
    if (!name.empty()) result.try_emplace(address, std::move(name));
  }
}

}  // namespace

std::map<std::uint64_t, std::string> symbols_in(const std::string& path, std::uint64_t inode,
                                                const std::vector<std::uint64_t>& addresses) {
  std::map<std::uint64_t, std::string> result;
  const auto file = open_file(path, inode);
  if (!file) return result;
  auto sorted = addresses;
  std::ranges::sort(sorted);
  const auto sections = sections_of(file.get());
  // The whole table first; the one of what is exported is left when that was stripped.
  for (const auto wanted : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (const auto& section : sections) {
      if (section.sh_type != static_cast<std::uint32_t>(wanted) ||
          section.sh_link >= sections.size())
        continue;
      read_table(file.get(), section, sections[section.sh_link], sorted, result);
    }
    if (result.size() == sorted.size()) break;
  }
  return result;
}

std::optional<std::uint64_t> first_address_in(const std::string& path, std::uint64_t inode) {
  constexpr std::uint64_t page_size = 4096;
  const auto file = open_file(path, inode);
  Elf64_Ehdr header{};
  if (!file || !read_header(file.get(), header) || header.e_phentsize != sizeof(Elf64_Phdr))
    return std::nullopt;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    if (!read_at(file.get(), header.e_phoff + i * sizeof part, &part)) return std::nullopt;
    if (part.p_type == PT_LOAD) return part.p_vaddr / page_size * page_size;
  }
  return std::nullopt;
}

}  // namespace muster::launcher
