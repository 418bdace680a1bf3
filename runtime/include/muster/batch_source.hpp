#pragma once

#include <muster/collate.hpp>
#include <muster/load_request.hpp>
#include <muster/loading.hpp>
#include <muster/visit_parts.hpp>

#include <ATen/core/Generator.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace muster {

// Data sets may take an index as any integer; the conversion is theirs.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"

template <class Dataset>
concept GetsGenerated = requires(Dataset& dataset, std::size_t index, at::Generator& generator) {
  dataset.get(index, generator);
};
template <class Dataset>
concept GetsBatch = requires(Dataset& dataset, const std::vector<std::int64_t>& indices) {
  dataset.get_batch(indices);
};
template <class Dataset>
concept GetsBatchUnsigned = requires(Dataset& dataset, const std::vector<std::size_t>& indices) {
  dataset.get_batch(indices);
};
template <class Dataset>
concept GetsExample = requires(Dataset& dataset, std::size_t index) { dataset.get(index); };

/// Read by index.
template <class Dataset>
concept Indexed = GetsGenerated<Dataset> || GetsBatch<Dataset> || GetsBatchUnsigned<Dataset> ||
                  GetsExample<Dataset>;

/// Throws ConfigError: the data set does not know its size.
[[noreturn]] void refuse_unsized();

template <class Dataset>
std::int64_t sample_count(const Dataset& dataset) {
  const auto size = dataset.size();
  if constexpr (requires { size.has_value(); }) {
    if (!size.has_value()) refuse_unsized();
    return static_cast<std::int64_t>(*size);
  } else {
    return static_cast<std::int64_t>(size);
  }
}

/// The batch of the examples that `get(index)` gives.
template <class Collate, class Get>
auto collate_examples(const Collate& collate, LoadRequest& request, Get get) {
  std::vector<std::remove_cvref_t<decltype(get(std::int64_t{}))>> examples;
  examples.reserve(request.indices().size());
  for (const std::int64_t index : request.indices()) {
    request.enter(index);
    examples.push_back(get(index));
  }
  return collate(std::move(examples));
}

/// What get_batch gave, as the loop gets it: a list is one of examples (torch's data sets without a
/// Stack transform give these) and is collated.
template <class Collate, class Result>
auto collate_batch(const Collate& collate, Result result) {
  if constexpr (std::invocable<const Collate&, Result>) {
    return collate(std::move(result));
  } else {
    static_assert(std::same_as<Collate, DefaultCollate>,
                  "the collate function cannot be called with what get_batch returns");
    return result;
  }
}

/// A batch, as it is given to the loop, whichever way the data set is read.
template <class Dataset, class Collate>
auto make_batch(Dataset& dataset, const Collate& collate, LoadRequest& request) {
  if constexpr (GetsGenerated<Dataset>) {
    return collate_examples(collate, request, [&](std::int64_t index) {
      return dataset.get(static_cast<std::size_t>(index), request.generator(index));
    });
  } else if constexpr (GetsBatch<Dataset>) {
    return collate_batch(collate, dataset.get_batch(request.indices()));
  } else if constexpr (GetsBatchUnsigned<Dataset>) {
    const std::vector<std::size_t> indices(request.indices().begin(), request.indices().end());
    return collate_batch(collate, dataset.get_batch(indices));
  } else {
    static_assert(GetsExample<Dataset>,
                  "a data set for muster::DataLoader has size() and one of get_batch(indices), "
                  "get(index) and get(index, at::Generator), or is a stream: a function of an "
                  "EpochStart, or next(), next_batch() or get_batch(size), which return optionals");
    return collate_examples(collate, request, [&](std::int64_t index) {
      return dataset.get(static_cast<std::size_t>(index));
    });
  }
}

/// The name of a type, for texts.
std::string type_text(const std::type_info& type);

/// What a Loading says of the type of batches.
template <class Batch>
void describe_batches(Loading& loading) {
  loading.batch_type = type_text(typeid(Batch));
  if constexpr (std::default_initializable<Batch> && has_known_parts<Batch>()) {
    loading.visit = [](const std::shared_ptr<void>& batch, PartVisitor& visitor) {
      visit_parts(*static_cast<Batch*>(batch.get()), visitor);
    };
    loading.make_empty = [] { return std::make_shared<Batch>(); };
  }
}

/// A data set and how it makes batches. Copies share the data set.
template <class Dataset, class Collate>
struct BatchSource {
  using Batch = decltype(make_batch(std::declval<Dataset&>(), std::declval<const Collate&>(),
                                    std::declval<LoadRequest&>()));

  std::shared_ptr<Dataset> dataset;
  Collate collate;

  std::shared_ptr<void> load(LoadRequest& request) const {
    return std::make_shared<Batch>(make_batch(*dataset, collate, request));
  }
  Loading loading() const {
    Loading loading;
    loading.samples = sample_count(*dataset);
    loading.load = [source = *this](LoadRequest& request) { return source.load(request); };
    describe_batches<Batch>(loading);
    return loading;
  }
};

#pragma GCC diagnostic pop

}  // namespace muster
