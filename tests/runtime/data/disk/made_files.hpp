#pragma once

#include "runtime/checkpoint/temporary_folder.hpp"

#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace muster::test {

/// A folder with the files of make_files.py, made once a process.
const std::filesystem::path& made_files();

template <class T>
void write_numbers(const std::filesystem::path& path, const std::vector<T>& numbers) {
  write_bytes(path, {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)});
}

}  // namespace muster::test
