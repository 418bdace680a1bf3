#include <muster/data_loader_options.hpp>

#include <memory>

namespace muster {

BatchSampler::Sequence BatchSampler::as_sequence(std::vector<Batch> batches) {
  return [batches = std::move(batches), next = std::size_t{0}]() mutable -> std::optional<Batch> {
    if (next == batches.size()) return std::nullopt;
    return std::move(batches[next++]);
  };
}

BatchSampler::BatchSampler(std::vector<Batch> batches)
    : start_(
          [shared = std::make_shared<const std::vector<Batch>>(std::move(batches))](std::int64_t) {
            return Sequence([shared, next = std::size_t{0}]() mutable -> std::optional<Batch> {
              if (next == shared->size()) return std::nullopt;
              return (*shared)[next++];
            });
          }) {}

}  // namespace muster
