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
  if (!options_.workers_read) order_ahead();
  const WorkerSignals blocked;  // Signals are the program's, not a worker's.
  for (int i = 0; i < options_.workers; ++i) {
    workers_.emplace_back([this](const std::stop_token& stop) {
      enter_worker_thread();
      if (options_.workers_read) {
        read_and_work(stop);
      } else {
        work(stop);
      }
    });
  }
}

BatchReader::~BatchReader() {
  options_.stop.request_stop();
  for (std::jthread& worker : workers_) worker.request_stop();
}

std::optional<LoadedBatch> BatchReader::next() {
  const std::shared_ptr<Slot> slot = take();
  if (!slot) return std::nullopt;
  if (slot->error) std::rethrow_exception(slot->error);
  const auto& request = slot->request;
  return LoadedBatch{std::move(slot->batch), request.real_samples, request.samples, request.last,
                     request.rank,           request.number,       request.position};
}

/// The next slot, done; null at the end.
std::shared_ptr<BatchReader::Slot> BatchReader::take() {
  if (workers_.empty()) {
    auto slot = std::make_shared<Slot>();
    if (!order(*slot)) return nullptr;
    if (!slot->error) load(*slot, {});
    return slot;
  }
  std::unique_lock lock(mutex_);
  loaded_.wait(lock, [&] {
    return slots_.empty() ? ended_ || !options_.workers_read : slots_.front()->done;
  });
  if (slots_.empty()) return nullptr;
  auto slot = std::move(slots_.front());
  slots_.pop_front();
  lock.unlock();
  room_.notify_one();
  if (!slot->error && !options_.workers_read) order_ahead();
  return slot;
}

/// False at the end. What the stream throws is the slot's error, and the end.
bool BatchReader::order(Slot& slot) {
  if (!stream_) return false;
  const LoadScope scope;
  try {
    std::optional<IndexBatch> request = stream_->next();
    if (!request) return false;
    slot.request = std::move(*request);
  } catch (...) {
    slot.error = std::current_exception();
    slot.done = true;
    stream_.reset();
  }
  return true;
}

void BatchReader::order_ahead() {
  std::unique_lock lock(mutex_);
  while (slots_.size() < static_cast<std::size_t>(options_.prefetch)) {
    lock.unlock();
    auto slot = std::make_shared<Slot>();
    if (!order(*slot)) return;
    lock.lock();
    slots_.push_back(slot);
    if (slot->error) return;
    orders_.push_back(std::move(slot));
    ordered_.notify_one();
  }
}

void BatchReader::load(Slot& slot, const std::stop_token& stop) const {
  const LoadScope scope;
  auto& items = slot.request.items;
  LoadRequest request = items.empty()
                            ? LoadRequest(slot.request.indices, options_.seed, options_.epoch, stop)
                            : LoadRequest(std::move(items));
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
  while (true) {
    std::unique_lock lock(mutex_);
    if (!ordered_.wait(lock, stop, [&] { return !orders_.empty(); })) return;
    if (stop.stop_requested()) return;
    const std::shared_ptr<Slot> slot = std::move(orders_.front());
    orders_.pop_front();
    lock.unlock();
    load(*slot, stop);
    finish(*slot);
  }
}

void BatchReader::finish(Slot& slot) {
  {
    const std::lock_guard lock(mutex_);
    slot.done = true;
  }
  loaded_.notify_one();
}

void BatchReader::read_and_work(const std::stop_token& stop) {
  const auto room = [&] {
    return ended_ || slots_.size() < static_cast<std::size_t>(options_.prefetch);
  };
  while (true) {
    std::unique_lock reading(reading_);
    std::unique_lock lock(mutex_);
    if (!room_.wait(lock, stop, room) || stop.stop_requested() || ended_) return;
    lock.unlock();
    auto slot = std::make_shared<Slot>();
    const bool more = order(*slot);
    lock.lock();
    ended_ = !more || slot->error;
    if (more) slots_.push_back(slot);
    lock.unlock();
    reading.unlock();
    loaded_.notify_one();
    if (!more || slot->error) return;
    load(*slot, stop);
    finish(*slot);
  }
}

}  // namespace muster
