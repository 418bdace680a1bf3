#include "data/batch_reader.hpp"

#include "data/load_error.hpp"
#include "data/load_scope.hpp"
#include "data/load_stopped.hpp"

#include <utility>

namespace muster {

BatchReader::BatchReader(std::unique_ptr<IndexStream> stream, LoadFunction load,
                         const ReaderOptions& options)
    : stream_(std::move(stream)), load_(std::move(load)), options_(options) {
  if (options_.workers == 0) return;
  if (options_.prefetch == 0) options_.prefetch = 2 * options_.workers;
  order_ahead();
  const WorkerSignals blocked;  // Signals are the program's, not a worker's.
  for (int i = 0; i < options_.workers; ++i) {
    workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

BatchReader::~BatchReader() {
  for (std::jthread& worker : workers_) worker.request_stop();
}

std::optional<LoadedBatch> BatchReader::next() {
  std::shared_ptr<Slot> slot;
  if (workers_.empty()) {
    std::optional<IndexBatch> request = stream_->next();
    if (!request) return std::nullopt;
    slot = std::make_shared<Slot>(Slot{std::move(*request), {}, {}, true});
    load(*slot, {});
  } else {
    if (slots_.empty()) return std::nullopt;
    slot = std::move(slots_.front());
    slots_.pop_front();
    std::unique_lock lock(mutex_);
    loaded_.wait(lock, [&] { return slot->done; });
    lock.unlock();
    if (!slot->error) order_ahead();
  }
  if (slot->error) std::rethrow_exception(slot->error);
  const auto& request = slot->request;
  return LoadedBatch{std::move(slot->batch), request.real_samples, std::ssize(request.indices),
                     request.last};
}

void BatchReader::order_ahead() {
  while (stream_ && slots_.size() < static_cast<std::size_t>(options_.prefetch)) {
    auto slot = std::make_shared<Slot>();
    try {
      std::optional<IndexBatch> request = stream_->next();
      if (!request) return;
      slot->request = std::move(*request);
    } catch (...) {
      // Due after the batches that were ordered before.
      slot->error = std::current_exception();
      slot->done = true;
      stream_.reset();
    }
    slots_.push_back(slot);
    if (slot->error) return;
    {
      const std::lock_guard lock(mutex_);
      orders_.push_back(std::move(slot));
    }
    ordered_.notify_one();
  }
}

void BatchReader::load(Slot& slot, const std::stop_token& stop) const {
  const LoadScope scope;
  LoadRequest request(slot.request.indices, options_.seed, options_.epoch, stop);
  try {
    slot.batch = load_(request);
  } catch (const LoadStopped&) {
    slot.error = std::current_exception();
  } catch (...) {
    slot.error = located(std::current_exception(),
                         {slot.request, request.current(), options_.epoch, options_.shard});
  }
}

void BatchReader::work(const std::stop_token& stop) {
  enter_worker_thread();
  while (true) {
    std::unique_lock lock(mutex_);
    if (!ordered_.wait(lock, stop, [&] { return !orders_.empty(); })) return;
    if (stop.stop_requested()) return;
    const std::shared_ptr<Slot> slot = std::move(orders_.front());
    orders_.pop_front();
    lock.unlock();
    load(*slot, stop);
    lock.lock();
    slot->done = true;
    lock.unlock();
    loaded_.notify_one();
  }
}

}  // namespace muster
