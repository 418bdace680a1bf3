#include "checkpoint/header_events.hpp"

#include "checkpoint/safetensors_dtype.hpp"

#include <limits>
#include <utility>

namespace muster {

bool HeaderEvents::fail(std::string fault) {
  if (fault_.empty()) fault_ = std::move(fault);
  return false;
}

std::string HeaderEvents::subject() const { return "tensor '" + header_.entries.back().name + "'"; }

bool HeaderEvents::start_object(std::size_t) {
  switch (place_) {
    case Place::before:
      place_ = Place::root;
      return true;
    case Place::root:
      if (key_ == "__metadata__") {
        place_ = Place::metadata;
        return true;
      }
      place_ = Place::tensor;
      header_.entries.push_back({});
      header_.entries.back().name = key_;
      dtype_.reset();
      shape_.reset();
      offsets_.reset();
      return true;
    case Place::unknown:
      ++unknown_depth_;
      return true;
    case Place::metadata:
    case Place::tensor:
    case Place::shape:
    case Place::offsets:
    case Place::after:
      break;
  }
  return other_value("an object");
}

bool HeaderEvents::key(string_t& name) {
  key_ = name;
  if (place_ == Place::root && !names_.insert(name).second) {
    return fail("'" + name + "' stands twice");
  }
  if (place_ == Place::metadata && header_.metadata.contains(name)) {
    return fail("'" + name + "' stands twice in its metadata");
  }
  return place_ != Place::tensor || tensor_field(name);
}

bool HeaderEvents::tensor_field(const std::string& name) {
  const bool twice = (name == "dtype" && dtype_) || (name == "shape" && shape_) ||
                     (name == "data_offsets" && offsets_);
  if (twice) return fail(subject() + " has '" + name + "' twice");
  if (name != "dtype" && name != "shape" && name != "data_offsets") {
    place_ = Place::unknown;
    unknown_depth_ = 0;
  }
  return true;
}

bool HeaderEvents::end_object() {
  if (place_ == Place::unknown) {
    if (--unknown_depth_ == 0) place_ = Place::tensor;
    return true;
  }
  if (place_ == Place::tensor && !finish_tensor()) return false;
  place_ = place_ == Place::root ? Place::after : Place::root;
  return true;
}

bool HeaderEvents::finish_tensor() {
  SafetensorsEntry& entry = header_.entries.back();
  if (!dtype_ || !shape_ || !offsets_) {
    return fail(subject() + " lacks its " +
                (!dtype_   ? "dtype"
                 : !shape_ ? "shape"
                           : "data_offsets"));
  }
  const auto dtype = safetensors_dtype(*dtype_);
  if (!dtype) {
    return fail(subject() + " has the dtype '" + *dtype_ +
                "'; these can be read: " + safetensors_names());
  }
  if (offsets_->size() != 2) return fail(subject() + ": data_offsets must be two numbers");
  entry.dtype = *dtype;
  entry.begin = offsets_->front();
  entry.end = offsets_->back();
  for (const std::uint64_t extent : *shape_) {
    if (extent > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return fail(subject() + " has a dimension of " + std::to_string(extent));
    }
    entry.shape.push_back(static_cast<std::int64_t>(extent));
  }
  return true;
}

bool HeaderEvents::start_array(std::size_t) {
  if (place_ == Place::unknown) {
    ++unknown_depth_;
    return true;
  }
  if (place_ != Place::tensor || key_ == "dtype") return other_value("a list");
  const bool is_shape = key_ == "shape";
  place_ = is_shape ? Place::shape : Place::offsets;
  (is_shape ? shape_ : offsets_).emplace();
  return true;
}

bool HeaderEvents::end_array() {
  if (place_ != Place::unknown || --unknown_depth_ == 0) place_ = Place::tensor;
  return true;
}

bool HeaderEvents::string(string_t& text) {
  if (place_ == Place::metadata) {
    header_.metadata.emplace(key_, text);
    return true;
  }
  if (place_ == Place::tensor && key_ == "dtype") {
    dtype_ = text;
    return true;
  }
  return other_value("text");
}

bool HeaderEvents::number_unsigned(number_unsigned_t number) {
  if (place_ != Place::shape && place_ != Place::offsets) return other_value("a number");
  (place_ == Place::shape ? shape_ : offsets_)->push_back(number);
  return true;
}

bool HeaderEvents::number_integer(number_integer_t number) {
  return other_value(std::to_string(number));
}
bool HeaderEvents::number_float(number_float_t, const string_t& text) { return other_value(text); }
bool HeaderEvents::null() { return other_value("null"); }
bool HeaderEvents::boolean(bool value) { return other_value(value ? "true" : "false"); }
bool HeaderEvents::binary(binary_t&) { return other_value("bytes"); }

bool HeaderEvents::other_value(const std::string& found) {
  switch (place_) {
    case Place::unknown:
      if (unknown_depth_ == 0) place_ = Place::tensor;
      return true;
    case Place::metadata:
      return fail("the metadata '" + key_ + "' is " + found + ", not text");
    case Place::root:
      return fail("'" + key_ + "' is " + found + ", not an object");
    case Place::tensor:
    case Place::shape:
    case Place::offsets:
      return fail(subject() + " has " + found + " in its " + key_);
    case Place::before:
    case Place::after:
      break;
  }
  return fail("its header is " + found + ", not an object");
}

bool HeaderEvents::parse_error(std::size_t position, const std::string&,
                               const nlohmann::detail::exception&) {
  return fail("its header is no valid JSON at byte " + std::to_string(position));
}

}  // namespace muster
