// Weights that rank 0 writes and all ranks get back, bit by bit; files that are damaged are
// refused.

#include <muster/accelerator.hpp>
#include <muster/error.hpp>
#include <muster/safetensors.hpp>

#include "check/checks.hpp"
#include "check/lists.hpp"

#include <ATen/ops/empty.h>
#include <torch/nn/module.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdlib.h>

namespace muster::check {
namespace {

/// A folder that goes with this object.
class Folder {
 public:
  Folder() : path_((std::filesystem::temp_directory_path() / "muster-test-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) throw Error("cannot make a folder " + path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path file(const char* name) const { return std::filesystem::path(path_) / name; }

 private:
  std::string path_;
};

/// Parameters of several dtypes, one of them tied, and a buffer.
struct Weights : torch::nn::Module {
  explicit Weights(Numbers& numbers) {
    const auto add = [&](const char* name, std::int64_t rows, at::ScalarType dtype) {
      return register_parameter(name, numbers.of(0, rows * 7, dtype).view({rows, 7}));
    };
    add("first", 300, at::kFloat);
    add("narrow", 11, at::kBFloat16);
    const auto tied = add("wide", 3, at::kDouble);
    register_parameter("tied", tied);
    register_buffer("count", numbers.of(0, 5, at::kLong));
  }
};

void expect_weights(Bench& bench, const char* where, const Weights& found) {
  const Weights expected(bench.numbers());
  for (const auto& item : expected.named_parameters()) {
    bench.expect_same(std::string(where) + " " + item.key(), item.value().detach(),
                      found.named_parameters()[item.key()].detach());
  }
  bench.expect_same(std::string(where) + " count", expected.named_buffers()["count"],
                    found.named_buffers()["count"]);
}

void fill(const Weights& weights, double value) {
  for (const auto& parameter : weights.parameters()) parameter.detach().fill_(value);
  for (const auto& buffer : weights.buffers()) buffer.fill_(static_cast<std::int64_t>(value));
}

/// Any rank, alone: every dtype that the format has.
void every_dtype(Bench& bench, const Folder& folder) {
  std::vector<NamedTensor> tensors;
  for (const auto dtype :
       {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kChar, at::kByte, at::kShort,
        at::kInt, at::kLong, at::kBool, at::kFloat8_e4m3fn, at::kComplexFloat}) {
    tensors.push_back({c10::toString(dtype), bench.numbers().of(0, 33, dtype)});
  }
  const auto path = folder.file("every.safetensors");
  save_safetensors(path, tensors);
  const auto read = load_safetensors(path);
  for (const auto& [name, tensor] : tensors) {
    const auto* const found = read.find(name);
    bench.expect(found != nullptr, "a file of every dtype", name, "no such tensor");
    if (found != nullptr) bench.expect_same("a file of every dtype", tensor, *found);
  }
}

/// Its last bytes are gone, as after a copy that did not end.
void damaged(Bench& bench, const std::filesystem::path& path) {
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 4);
  try {
    load_safetensors(path);
    bench.fault("a file without its last 4 bytes", "a CheckpointError", "it was read");
  } catch (const CheckpointError&) {
    return;
  }
}

}  // namespace

void check_weights(Bench& bench) {
  const Folder folder;
  Accelerator accelerator(bench.options());
  const auto module = std::make_shared<Weights>(bench.numbers());
  const auto model = accelerator.prepare(module);
  const auto path = folder.file("model.safetensors");
  accelerator.save_model(model, path);
  fill(*module, accelerator.process_index() + 2);
  accelerator.load_model(model, path);
  expect_weights(bench, "after save_model and load_model,", *module);
  every_dtype(bench, folder);
  accelerator.on_main_process([&] { damaged(bench, path); });
  bench.looked_at("written and read; 12 dtypes; damage is seen");
}

}  // namespace muster::check
