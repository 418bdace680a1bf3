#include "data/dispatch/server_run.hpp"

#include <muster/error.hpp>

#include "data/dispatch/packing.hpp"
#include "data/load_scope.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

namespace muster {
namespace {

/// Batches of a rank that wait for it, before the others have to wait too.
constexpr std::size_t most_ready = 32;

void send_error(const Post& post, const std::string& text, ExitCode code) {
  const auto length = static_cast<std::int64_t>(text.size());
  Reply reply{.kind = Reply::Kind::error, .bytes = length, .code = static_cast<std::int64_t>(code)};
  post.send(reply);
  at::Tensor bytes = at::empty({length}, at::TensorOptions(at::kByte));
  std::memcpy(bytes.mutable_data_ptr(), text.data(), text.size());
  if (length > 0) post.send(std::move(bytes));
}

}  // namespace

ServerRun::ServerRun(Communicator& group, int tag, std::unique_ptr<BatchFeed> feed, Loading loading,
                     const EpochTerms& terms)
    : loading_(std::move(loading)),
      terms_(terms),
      feed_(std::move(feed)),
      ready_(static_cast<std::size_t>(group.size())),
      left_(ready_.size()),
      serving_(ready_.size() - 1) {
  const WorkerSignals blocked;
  for (int rank = 1; rank < group.size(); ++rank) {
    threads_.emplace_back([this, rank, post = Post(group, rank, tag)] {
      enter_worker_thread();
      serve(rank, post);
    });
  }
}

bool ServerRun::finished() const noexcept {
  const std::lock_guard lock(mutex_);
  return serving_ == 0 && !feed_;
}

/// Whoever wants a batch that was not read yet reads on, for all.
std::optional<LoadedBatch> ServerRun::take(int rank) {
  const auto own = static_cast<std::size_t>(rank);
  std::unique_lock lock(mutex_);
  while (ready_[own].empty()) {
    if (error_) std::rethrow_exception(error_);
    if (ended_) return std::nullopt;
    if (!reading_ && has_room()) {
      read(lock);
    } else {
      moved_.wait(lock);
    }
  }
  LoadedBatch batch = std::move(ready_[own].front());
  ready_[own].pop_front();
  moved_.notify_all();
  return batch;
}

bool ServerRun::has_room() const {
  return std::ranges::all_of(ready_, [](const auto& ready) { return ready.size() < most_ready; });
}

void ServerRun::read(std::unique_lock<std::mutex>& lock) {
  reading_ = true;
  lock.unlock();
  std::optional<LoadedBatch> batch;
  std::exception_ptr error;
  try {
    batch = feed_->next();
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  reading_ = false;
  if (batch) {
    const auto rank = static_cast<std::size_t>(batch->rank);
    if (!left_[rank]) ready_[rank].push_back(std::move(*batch));
  }
  ended_ = ended_ || (!batch && !error);
  if (error && !error_) error_ = error;
  moved_.notify_all();
}

void ServerRun::left(int rank) noexcept {
  std::unique_ptr<BatchFeed> unused;
  std::unique_lock lock(mutex_);
  left_[static_cast<std::size_t>(rank)] = true;
  ready_[static_cast<std::size_t>(rank)].clear();
  moved_.notify_all();
  if (std::ranges::all_of(left_, std::identity())) unused = std::move(feed_);
  lock.unlock();
}

void ServerRun::fail(std::exception_ptr error) noexcept {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  moved_.notify_all();
}

void ServerRun::serve(int rank, const Post& post) noexcept {
  try {
    bool more = true;
    while (more) {
      const Request request = post.receive_request();
      if (request.kind == Request::Kind::leave) break;
      if (request.kind == Request::Kind::batch) more = answer(rank, post, request);
    }
  } catch (...) {
    // The rank is lost: so is the training.
    fail(std::current_exception());
  }
  left(rank);
  const std::lock_guard lock(mutex_);
  --serving_;
}

/// False if that was the last answer.
bool ServerRun::answer(int rank, const Post& post, const Request& request) {
  if (request.terms != terms_) {
    const std::string text = "data loader: with dispatch all ranks begin the same epoch; rank " +
                             std::to_string(rank) + " begins " + request.terms.to_text() +
                             "; rank 0 begins " + terms_.to_text();
    fail(std::make_exception_ptr(ConfigError(text)));
    send_error(post, text, ExitCode::usage);
    return false;
  }
  std::optional<LoadedBatch> batch;
  try {
    batch = take(rank);
    if (batch) {
      send(post, std::move(*batch));
      return true;
    }
  } catch (const CommunicationError&) {
    throw;
  } catch (const Error& error) {
    send_error(post, error.what(), error.exit_code());
    return false;
  } catch (const std::exception& error) {
    send_error(post, error.what(), ExitCode::internal);
    return false;
  }
  post.send(Reply{.kind = Reply::Kind::end});
  return false;
}

void ServerRun::send(const Post& post, LoadedBatch loaded) const {
  at::Tensor bytes = pack([&](PartVisitor& visitor) { loading_.visit(loaded.batch, visitor); });
  loaded.batch.reset();
  post.send(Reply{.bytes = bytes.numel(),
                  .number = loaded.number,
                  .real_samples = loaded.real_samples,
                  .samples = loaded.samples,
                  .position = loaded.position,
                  .last = loaded.last ? 1 : 0});
  post.send(std::move(bytes));
}

}  // namespace muster
