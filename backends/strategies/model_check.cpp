#include "model_check.hpp"

#include <muster/error.hpp>
#include <muster/tensor_text.hpp>

#include <ATen/ops/empty.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {
namespace {

std::string describe(const NamedTensor& named) {
  std::ostringstream text;
  text << '\'' << named.name << "' " << describe_tensor(named.tensor);
  if (named.tensor.layout() != at::kStrided) return text.str() + " sparse";
  if (!named.tensor.is_contiguous()) text << " with strides " << to_text(named.tensor.strides());
  return text.str();
}

/// One line a tensor; the first is the settings that decide the buckets.
std::string describe_model(std::span<const NamedTensor> parameters,
                           std::span<const NamedTensor> buffers, const StrategyOptions& options) {
  std::ostringstream text;
  text << "buckets of " << options.first_bucket_bytes << " and then " << options.bucket_bytes
       << " bytes\nmixed precision " << options.mixed_precision << '\n';
  for (const auto& parameter : parameters) {
    text << "parameter " << describe(parameter)
         << (parameter.tensor.requires_grad() ? ", trained\n" : ", frozen\n");
  }
  for (const auto& buffer : buffers) text << "buffer " << describe(buffer) << '\n';
  return text.str();
}

std::int64_t fingerprint(std::string_view text) {
  return static_cast<std::int64_t>(XXH3_64bits(text.data(), text.size()));
}

std::vector<std::int64_t> gather_numbers(Communicator& communicator, std::int64_t own) {
  const auto input = at::empty({1}, at::kLong).fill_(own).to(communicator.device());
  const auto output = input.new_empty({communicator.size()});
  communicator.all_gather(output, input, "model check").wait();
  const auto host = output.to(at::kCPU);
  const auto* numbers = host.const_data_ptr<std::int64_t>();
  return {numbers, numbers + communicator.size()};
}

std::vector<std::string> gather_texts(Communicator& communicator, const std::string& own) {
  const auto lengths = gather_numbers(communicator, static_cast<std::int64_t>(own.size()));
  const auto longest = std::ranges::max(lengths);
  auto padded = at::empty({longest}, at::kByte).zero_();
  std::memcpy(padded.mutable_data_ptr(), own.data(), own.size());
  const auto input = padded.to(communicator.device());
  const auto output = input.new_empty({longest * communicator.size()});
  communicator.all_gather(output, input, "models").wait();
  const auto host = output.to(at::kCPU);
  const auto* bytes = static_cast<const char*>(host.const_data_ptr());
  std::vector<std::string> texts;
  for (const auto length : lengths) {
    texts.emplace_back(bytes, static_cast<std::size_t>(length));
    bytes += longest;
  }
  return texts;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::size_t parameters_in(const std::vector<std::string>& lines) {
  return static_cast<std::size_t>(std::ranges::count_if(
      lines, [](const std::string& line) { return line.starts_with("parameter "); }));
}

[[noreturn]] void throw_difference(const std::string& first, const std::string& other, int rank) {
  const auto ours = lines_of(first);
  const auto theirs = lines_of(other);
  const auto [here, there] = std::ranges::mismatch(ours, theirs);
  const auto line = [](auto at, const auto& lines) { return at == lines.end() ? "nothing" : *at; };
  const auto name = std::to_string(rank);
  throw ModelError("the model differs between ranks: rank 0 has " + line(here, ours) +
                   " where rank " + name + " has " + line(there, theirs) +
                   " (rank 0: " + std::to_string(parameters_in(ours)) + " parameters, rank " +
                   name + ": " + std::to_string(parameters_in(theirs)) +
                   " parameters); build the same model on every rank");
}

}  // namespace

void require_same_model(std::span<const NamedTensor> parameters,
                        std::span<const NamedTensor> buffers, const StrategyOptions& options,
                        Communicator& communicator) {
  if (communicator.size() == 1) return;
  const auto own = describe_model(parameters, buffers, options);
  const auto hashes = gather_numbers(communicator, fingerprint(own));
  const auto other = std::ranges::find_if(hashes, [&](auto hash) { return hash != hashes[0]; });
  if (other == hashes.end()) return;
  const auto texts = gather_texts(communicator, own);
  const auto rank = static_cast<std::size_t>(other - hashes.begin());
  throw_difference(texts[0], texts[rank], static_cast<int>(rank));
}

}  // namespace muster
