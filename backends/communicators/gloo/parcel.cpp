#include "communicators/gloo/parcel.hpp"

#include "communicators/gloo/scene.hpp"
#include "communicators/gloo/tags.hpp"

#include <algorithm>

namespace muster::gloo {
namespace {

constexpr std::size_t capacity = 8192;
constexpr std::size_t letter_bytes = sizeof(Header) + capacity;

Header& header(const Memory& letter) { return *reinterpret_cast<Header*>(letter.data()); }

}  // namespace

Parcel::Parcel(Links& links, const Operation& operation, std::uint32_t number)
    : letter_(letter_bytes), traffic_(links) {
  if (operation.kind == Operation::Kind::send) {
    post_send(operation, number);
  } else {
    ticket_ = traffic_.receive_one(operation.peer, operation.tag, letter_.data(), letter_bytes);
  }
}

void Parcel::post_send(const Operation& operation, std::uint32_t number) {
  const auto bytes = operation.input.nbytes();
  const auto* const data = static_cast<const char*>(operation.input.const_data_ptr());
  auto& own = header(letter_);
  own = describe(operation);
  own.bulk_tag = tag::bulk.of(number);
  own.inline_bytes = bytes <= capacity ? bytes : 0;
  std::copy_n(data, own.inline_bytes, letter_.data() + sizeof(Header));
  traffic_.send(operation.peer, operation.tag, letter_.data(), sizeof(Header) + own.inline_bytes);
  if (own.inline_bytes < bytes) {
    traffic_.send(operation.peer, own.bulk_tag, data, bytes);
  }
}

void Parcel::deliver(const Operation& operation) {
  if (ticket_) {
    traffic_.await(ticket_);
    take(operation);
  }
  traffic_.settle();
}

void Parcel::take(const Operation& operation) {
  const auto& theirs = header(letter_);
  require_fit(operation, theirs);
  auto* const data = static_cast<char*>(operation.output.data_ptr());
  const auto bytes = operation.output.nbytes();
  if (bytes <= capacity) {
    std::copy_n(letter_.data() + sizeof(Header), bytes, data);
  } else {
    traffic_.receive(operation.peer, theirs.bulk_tag, data, bytes);
  }
}

}  // namespace muster::gloo
