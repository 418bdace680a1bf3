#pragma once

#include <muster/communicator.hpp>
#include <muster/data_loader_options.hpp>

#include "data/index_stream.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace muster {

/// What ranks must agree on when they begin an epoch.
struct EpochTerms {
  std::int64_t epoch = 0, seed = 0, skip = 0, position = 0, batch_size = 0;
  std::int64_t flags = 0;  ///< drop_last, even_batches, split_batches, shuffle.

  static EpochTerms of(const DataLoaderOptions& options, const StreamStart& start);
  bool operator==(const EpochTerms&) const = default;
  std::string to_text() const;
};

/// A rank asks rank 0 for its next batch.
struct Request {
  enum class Kind : std::int64_t {
    batch,
    alive,  ///< It has room for none at the moment; nothing is answered.
    leave,  ///< It will not ask again; nothing is answered.
  };
  Kind kind = Kind::batch;
  EpochTerms terms;
};

/// Rank 0's answer; `bytes` of a packed batch, or of an error's text, follow.
struct Reply {
  enum class Kind : std::int64_t { batch, end, error };
  Kind kind = Kind::batch;
  std::int64_t bytes = 0;
  std::int64_t number = 0, real_samples = -1, samples = -1, position = 0;
  std::int64_t last = 0;
  std::int64_t code = 0;  ///< error: its ExitCode.
};

/// Messages of one epoch with one peer: its own tag keeps it apart from others. All block, at most
/// as long as one communication may take, and throw CommunicationError.
class Post {
 public:
  Post(Communicator& group, int peer, int tag) : group_(group), peer_(peer), tag_(tag) {}

  void send(const Request& request) const { send_numbers(&request, sizeof request); }
  void send(const Reply& reply) const { send_numbers(&reply, sizeof reply); }
  void send(at::Tensor bytes) const;
  Request receive_request() const;
  Reply receive_reply() const;
  at::Tensor receive_bytes(std::int64_t count) const;

 private:
  void send_numbers(const void* message, std::size_t bytes) const;
  void receive_numbers(void* message, std::size_t bytes) const;

  Communicator& group_;
  int peer_, tag_;
};

}  // namespace muster
