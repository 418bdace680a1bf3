#pragma once

#include <muster/batch_source.hpp>
#include <muster/sequence_items.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace muster {

/// The batch of what was read from a stream. Examples that others hold too are copied.
template <class Items, class Collate>
auto make_stream_batch(const Collate& collate, std::vector<Item>& items) {
  using Element = typename Items::Value;
  const auto take = [](Item& item) {
    Element& value = *static_cast<Element*>(item.get());
    return item.use_count() == 1 ? Element(std::move(value)) : Element(value);
  };
  if constexpr (Items::whole_batches) {
    return collate_batch(collate, take(items.front()));
  } else {
    std::vector<Element> examples;
    examples.reserve(items.size());
    for (Item& item : items) examples.push_back(take(item));
    return collate(std::move(examples));
  }
}

/// A Stream and how it makes batches.
template <class Dataset, class Collate>
  requires(!Indexed<Dataset> && Stream<Dataset>)
struct BatchSource<Dataset, Collate> {
  using Items = ItemsOf<Dataset>;
  using Value = typename Items::Value;
  using Batch = decltype(make_stream_batch<Items>(std::declval<const Collate&>(),
                                                  std::declval<std::vector<Item>&>()));

  std::shared_ptr<Dataset> dataset;
  Collate collate;

  std::shared_ptr<void> load(LoadRequest& request) const {
    return std::make_shared<Batch>(make_stream_batch<Items>(collate, request.items()));
  }
  Loading loading() const {
    Loading loading;
    loading.load = [source = *this](LoadRequest& request) { return source.load(request); };
    auto& stream = loading.stream;
    stream.open = [dataset = dataset](const EpochStart& start, std::size_t batch_size) {
      return Items::open(start_epoch(dataset, start), batch_size);
    };
    stream.whole_batches = Items::whole_batches;
    if constexpr (Items::whole_batches) {
      stream.rows = [](const Item& item) { return rows_of(*static_cast<Value*>(item.get())); };
      stream.copy = [](const Item& item) -> Item {
        return std::make_shared<Value>(separate_copy(*static_cast<const Value*>(item.get())));
      };
    }
    describe_batches<Batch>(loading);
    return loading;
  }
};

}  // namespace muster
