#include "data/dispatch/messages.hpp"

#include <muster/background.hpp>

#include <ATen/ops/empty.h>

#include <cstring>
#include <utility>

namespace muster {
namespace {

const std::string data_label = std::string(background) + "dispatched batch";
const std::string message_label = std::string(background) + "dispatch";

at::Tensor bytes_for(std::size_t count) {
  return at::empty({static_cast<std::int64_t>(count)}, at::TensorOptions(at::kByte));
}

}  // namespace

EpochTerms EpochTerms::of(const DataLoaderOptions& options, const StreamStart& start) {
  const std::int64_t flags = (options.drop_last ? 1 : 0) + (options.even_batches ? 2 : 0) +
                             (options.split_batches ? 4 : 0) + (options.shuffle ? 8 : 0);
  return {start.epoch, start.seed, start.skip, start.position, options.batch_size, flags};
}

std::string EpochTerms::to_text() const {
  const auto has = [this](std::int64_t flag) { return (flags & flag) != 0 ? " 1" : " 0"; };
  return "epoch " + std::to_string(epoch) + ", seed " + std::to_string(seed) + ", batch_size " +
         std::to_string(batch_size) + ", " + std::to_string(skip) + " batches skipped after " +
         std::to_string(position) + " samples, shuffle" + has(8) + ", drop_last" + has(1) +
         ", even_batches" + has(2) + ", split_batches" + has(4);
}

void Post::send_numbers(const void* message, std::size_t bytes) const {
  at::Tensor tensor = bytes_for(bytes);
  std::memcpy(tensor.mutable_data_ptr(), message, bytes);
  group_.send(std::move(tensor), peer_, tag_, message_label).wait();
}

void Post::receive_numbers(void* message, std::size_t bytes) const {
  at::Tensor tensor = bytes_for(bytes);
  group_.receive(tensor, peer_, tag_, message_label).wait();
  std::memcpy(message, tensor.const_data_ptr(), bytes);
}

void Post::send(at::Tensor bytes) const {
  group_.send(std::move(bytes), peer_, tag_, data_label).wait();
}

at::Tensor Post::receive_bytes(std::int64_t count) const {
  at::Tensor bytes = bytes_for(static_cast<std::size_t>(count));
  group_.receive(bytes, peer_, tag_, data_label).wait();
  return bytes;
}

Request Post::receive_request() const {
  Request request;
  receive_numbers(&request, sizeof request);
  return request;
}

Reply Post::receive_reply() const {
  Reply reply;
  receive_numbers(&reply, sizeof reply);
  return reply;
}

}  // namespace muster
