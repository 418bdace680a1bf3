#pragma once

#include "checkpoint/safetensors_header.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace muster {

/// Builds a header from a JSON parser's events, so that a hostile one is never held as a tree. The
/// first fault stops the parser and is in fault().
class HeaderEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool start_object(std::size_t elements) override;
  bool key(string_t& name) override;
  bool end_object() override;
  bool start_array(std::size_t elements) override;
  bool end_array() override;
  bool string(string_t& text) override;
  bool number_unsigned(number_unsigned_t number) override;
  bool number_integer(number_integer_t number) override;
  bool number_float(number_float_t number, const string_t& text) override;
  bool null() override;
  bool boolean(bool value) override;
  bool binary(binary_t& bytes) override;
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override;

  SafetensorsHeader& header() noexcept { return header_; }
  const std::string& fault() const noexcept { return fault_; }

 private:
  enum class Place { before, root, metadata, tensor, shape, offsets, unknown, after };

  bool fail(std::string fault);
  bool other_value(const std::string& found);
  bool tensor_field(const std::string& name);
  bool finish_tensor();
  std::string subject() const;  ///< "tensor 'a'", for faults.

  SafetensorsHeader header_;
  std::string fault_;
  Place place_ = Place::before;
  std::size_t unknown_depth_ = 0;  ///< Of a field that later versions may have; it is skipped.
  std::string key_;
  std::set<std::string, std::less<>> names_;
  std::optional<std::string> dtype_;
  std::optional<std::vector<std::uint64_t>> shape_, offsets_;
};

}  // namespace muster
