#include "data/dispatch/client_run.hpp"

#include <muster/error.hpp>

#include "data/dispatch/packing.hpp"
#include "data/load_scope.hpp"

#include <string>
#include <utility>

namespace muster {

ClientRun::ClientRun(const Post& post, Loading loading, const EpochTerms& terms, int ahead,
                     std::chrono::milliseconds timeout)
    : post_(post),
      loading_(std::move(loading)),
      terms_(terms),
      ahead_(static_cast<std::size_t>(ahead)),
      alive_interval_(timeout / 4 + std::chrono::milliseconds(1)) {
  const WorkerSignals blocked;
  thread_ = std::jthread([this] {
    enter_worker_thread();
    run();
  });
}

std::optional<LoadedBatch> ClientRun::next() {
  std::unique_lock lock(mutex_);
  moved_.wait(lock, [&] { return !ready_.empty() || error_ || ended_; });
  if (!ready_.empty()) {
    LoadedBatch batch = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    moved_.notify_all();
    return batch;
  }
  if (error_) std::rethrow_exception(error_);
  return std::nullopt;
}

void ClientRun::leave() noexcept {
  const std::lock_guard lock(mutex_);
  leaving_ = true;
  moved_.notify_all();
}

bool ClientRun::finished() const noexcept {
  const std::lock_guard lock(mutex_);
  return finished_;
}

void ClientRun::run() noexcept {
  std::exception_ptr error;
  try {
    while (wait_for_room() && ask()) {
    }
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  error_ = error;
  ended_ = finished_ = true;
  moved_.notify_all();
}

/// False if the program has left the loop; then rank 0 knows.
bool ClientRun::wait_for_room() {
  std::unique_lock lock(mutex_);
  const auto go_on = [&] { return leaving_ || ready_.size() < ahead_; };
  while (!moved_.wait_for(lock, alive_interval_, go_on)) {
    // A program that does something else for long is not to look like a lost one.
    lock.unlock();
    post_.send(Request{Request::Kind::alive, terms_});
    lock.lock();
  }
  const bool leaving = leaving_;
  lock.unlock();
  if (leaving) post_.send(Request{Request::Kind::leave, terms_});
  return !leaving;
}

/// False at the end.
bool ClientRun::ask() {
  post_.send(Request{Request::Kind::batch, terms_});
  const Reply reply = post_.receive_reply();
  if (reply.kind == Reply::Kind::end) return false;
  if (reply.kind == Reply::Kind::error) throw_error(reply);
  LoadedBatch batch = receive(reply);
  const std::lock_guard lock(mutex_);
  if (!leaving_) ready_.push_back(std::move(batch));
  moved_.notify_all();
  return true;
}

LoadedBatch ClientRun::receive(const Reply& reply) const {
  const at::Tensor bytes = post_.receive_bytes(reply.bytes);
  LoadedBatch loaded{.batch = loading_.make_empty(),
                     .real_samples = reply.real_samples,
                     .samples = reply.samples,
                     .last = reply.last != 0,
                     .number = reply.number,
                     .position = reply.position};
  unpack(bytes, [&](PartVisitor& visitor) { loading_.visit(loaded.batch, visitor); });
  return loaded;
}

void ClientRun::throw_error(const Reply& reply) const {
  std::string text;
  if (reply.bytes > 0) {
    const at::Tensor bytes = post_.receive_bytes(reply.bytes);
    text.assign(static_cast<const char*>(bytes.const_data_ptr()),
                static_cast<std::size_t>(reply.bytes));
  }
  throw Error("rank 0, which reads for all ranks: " + text, static_cast<ExitCode>(reply.code));
}

}  // namespace muster
