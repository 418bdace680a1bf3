#include <muster/error.hpp>
#include <muster/safetensors.hpp>

#include "checkpoint/atomic_file.hpp"
#include "checkpoint/safetensors_dtype.hpp"
#include "checkpoint/safetensors_header.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <unordered_map>

namespace muster {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
  throw CheckpointError("cannot write '" + file + "': " + what);
}

void check_tensor(const NamedTensor& named, const std::string& file) {
  const auto& [name, tensor] = named;
  const std::string subject = "tensor '" + name + "' ";
  if (name == "__metadata__") refuse(file, subject + "has the name of the format's metadata");
  if (!tensor.defined()) refuse(file, subject + "is undefined");
  if (tensor.layout() != at::kStrided) refuse(file, subject + "is not dense: use to_dense()");
  if (tensor.is_quantized()) refuse(file, subject + "is quantised: use dequantize()");
  if (tensor.is_meta()) refuse(file, subject + "is on the meta device, without values");
  if (!safetensors_name(tensor.scalar_type())) {
    refuse(file, subject + "is of " + c10::toString(tensor.scalar_type()) +
                     ", which the format lacks; it has " + safetensors_names());
  }
}

/// The same elements in the same order: what Python calls tied.
bool is_tied(const at::Tensor& one, const at::Tensor& other) {
  return one.numel() > 0 && one.has_storage() && other.has_storage() &&
         one.storage().unsafeGetStorageImpl() == other.storage().unsafeGetStorageImpl() &&
         one.storage_offset() == other.storage_offset() && one.sizes() == other.sizes() &&
         one.strides() == other.strides() && one.scalar_type() == other.scalar_type() &&
         one.is_conj() == other.is_conj() && one.is_neg() == other.is_neg();
}

struct Contents {
  std::vector<const NamedTensor*> tensors;
  std::map<std::string, std::string> metadata;
};

Contents without_ties(std::span<const NamedTensor> tensors, Contents contents,
                      const std::string& file) {
  std::unordered_map<std::string_view, const NamedTensor*> names;
  std::unordered_multimap<const void*, const NamedTensor*> storages;
  for (const NamedTensor& named : tensors) {
    check_tensor(named, file);
    const auto [known, is_new] = names.emplace(named.name, &named);
    if (!is_new) {
      if (is_tied(known->second->tensor, named.tensor)) continue;
      refuse(file, "two tensors have the name '" + named.name + "'");
    }
    const auto [begin, end] = storages.equal_range(named.tensor.storage().unsafeGetStorageImpl());
    const auto first = std::find_if(
        begin, end, [&](const auto& kept) { return is_tied(kept.second->tensor, named.tensor); });
    if (first == end) {
      storages.emplace(named.tensor.storage().unsafeGetStorageImpl(), &named);
      contents.tensors.push_back(&named);
    } else if (!contents.metadata.emplace(named.name, first->second->name).second) {
      refuse(file, "metadata '" + named.name + "' is needed to tie that tensor to '" +
                       first->second->name + "'");
    }
  }
  return contents;
}

/// Positions in which the data are written: wide elements first, so that each tensor is aligned, as
/// Python does.
std::vector<std::size_t> writing_order(const Contents& contents) {
  std::vector<std::size_t> order(contents.tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) {
    return contents.tensors[i]->tensor.element_size();
  });
  return order;
}

SafetensorsHeader header_of(const Contents& contents, const std::vector<std::size_t>& order) {
  SafetensorsHeader header{std::vector<SafetensorsEntry>(order.size()), contents.metadata};
  std::uint64_t end = 0;
  for (const std::size_t i : order) {
    const auto& [name, tensor] = *contents.tensors[i];
    const std::uint64_t begin = end;
    end += static_cast<std::uint64_t>(tensor.numel() * tensor.element_size());
    header.entries[i] = {name, tensor.scalar_type(), tensor.sizes().vec(), begin, end};
  }
  return header;
}

void write_values(AtomicFile& file, const at::Tensor& tensor) {
  const at::Tensor row_major =
      tensor.detach().resolve_conj().resolve_neg().to(at::kCPU).contiguous();
  file.write({static_cast<const std::byte*>(row_major.const_data_ptr()), row_major.nbytes()});
}

}  // namespace

void save_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                      const std::map<std::string, std::string>& metadata) {
  const std::string name = path.string();
  const Contents contents = without_ties(tensors, {{}, metadata}, name);
  const std::vector<std::size_t> order = writing_order(contents);
  const std::string header = safetensors_header_text(header_of(contents, order), name);
  if (header.size() > max_safetensors_header) {
    refuse(name, "its header would be " + std::to_string(header.size()) +
                     " bytes; the format allows " + std::to_string(max_safetensors_header));
  }
  const std::uint64_t length = header.size();
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(std::as_bytes(std::span(header)));
  for (const std::size_t i : order) write_values(file, contents.tensors[i]->tensor);
  file.commit();
}

}  // namespace muster
