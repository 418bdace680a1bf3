#include "tracking/event_messages.hpp"

#include "tracking/crc32c.hpp"
#include "tracking/number_text.hpp"
#include "tracking/protobuf.hpp"

namespace muster::tracking {
namespace {

// The numbers of fields and enumerators are those of tensorflow's event.proto, summary.proto and
// tensor.proto, and of the hparams plug-in's plugin_data.proto.
namespace event_field {
constexpr int wall_time = 1, step = 2, file_version = 3, summary = 5, session_log = 7;
}
namespace value_field {
constexpr int tag = 1, simple_value = 2, tensor = 8, metadata = 9;
}
namespace tensor_field {
constexpr int dtype = 1, shape = 2, string_val = 8;
}
constexpr int dtype_float = 1, dtype_string = 7;

Message event_at(double time, std::int64_t step) {
  Message event;
  event.real(event_field::wall_time, time).whole(event_field::step, step);
  return event;
}

/// SummaryMetadata of a plug-in.
std::string metadata(std::string_view plugin, std::string_view content = {}) {
  Message data;
  data.bytes(1, plugin);
  if (!content.empty()) data.bytes(2, content);
  return Message().bytes(1, data.text()).text();
}

Message value_named(std::string_view tag) {
  return std::move(Message().bytes(value_field::tag, tag));
}

/// Summary.Value with one text.
std::string text_value(std::string_view tag, std::string_view text) {
  const auto shape = Message().bytes(2, Message().whole(1, 1).text()).text();  // [1]
  Message tensor;
  tensor.whole(tensor_field::dtype, dtype_string)
      .bytes(tensor_field::shape, shape)
      .bytes(tensor_field::string_val, text);
  return value_named(tag)
      .bytes(value_field::tensor, tensor.text())
      .bytes(value_field::metadata, metadata("text"))
      .text();
}

/// Summary.Value of the hparams plug-in, whose content is all in the metadata.
std::string hparams_value(std::string_view tag, int field, std::string_view info) {
  Message data;
  data.whole(1, 0).bytes(field, info);
  const auto nothing = Message()
                           .whole(tensor_field::dtype, dtype_float)
                           .bytes(tensor_field::shape, Message().bytes(2, "").text())
                           .text();
  return value_named(tag)
      .bytes(value_field::tensor, nothing)
      .bytes(value_field::metadata, metadata("hparams", data.text()))
      .text();
}

/// google.protobuf.Value
std::string protobuf_value(const TrackedValue& value) {
  if (const auto* text = value.text()) return Message().bytes(3, *text).text();
  if (std::holds_alternative<bool>(value.get())) {
    return Message().whole(4, value.number() != 0 ? 1 : 0).text();
  }
  return Message().real(2, value.number()).text();
}

std::string session_start(const TrackedRun& run, double time) {
  Message info;
  for (const auto& [name, value] : run.config) {
    info.bytes(1, Message().bytes(1, name).bytes(2, protobuf_value(value)).text());
  }
  info.bytes(4, run.project).real(5, time);
  return info.text();
}

/// A cell of a table in Markdown.
std::string cell(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '|') result += '\\';
    result += letter == '\n' ? ' ' : letter;
  }
  return result;
}

/// In Markdown, which the Text tab shows.
std::string config_table(const TrackedRun& run) {
  std::string text = "| name | value |\n|---|---|\n";
  for (const auto& [name, value] : run.config) {
    text += "| " + cell(name) + " | " + cell(value_text(value)) + " |\n";
  }
  return text;
}

}  // namespace

std::string framed(std::string_view message) {
  // A sum over bytes that hold such sums says little, so the format turns and shifts them.
  const auto sum = [](std::string_view bytes) {
    const std::uint32_t crc = crc32c(bytes);
    const std::uint32_t turned = (crc >> 15U) | (crc << 17U);
    return little_endian(turned + 0xa282ead8U, 4);
  };
  const auto length = little_endian(message.size(), 8);
  return length + sum(length) + std::string(message) + sum(message);
}

std::string version_event(double time) {
  return Message()
      .real(event_field::wall_time, time)
      .bytes(event_field::file_version, "brain.Event:2")
      .text();
}

std::string start_event(double time, std::int64_t step) {
  constexpr int start = 1;
  return event_at(time, step)
      .bytes(event_field::session_log, Message().whole(1, start).text())
      .text();
}

std::string config_event(const TrackedRun& run, double time) {
  Message summary;
  summary.bytes(1, hparams_value("_hparams_/session_start_info", 3, session_start(run, time)));
  summary.bytes(1, text_value("config", config_table(run)));
  return event_at(time, 0).bytes(event_field::summary, summary.text()).text();
}

std::string record_event(const TrackedRecord& record) {
  Message summary;
  for (const auto& [name, value] : record.items) {
    if (const auto* text = value.text()) {
      summary.bytes(1, text_value(name, *text));
    } else {
      const auto number = static_cast<float>(value.number());
      summary.bytes(1, value_named(name).short_real(value_field::simple_value, number).text());
    }
  }
  return event_at(record.time, record.step).bytes(event_field::summary, summary.text()).text();
}

std::string end_event(double time, std::int64_t step) {
  constexpr int success = 1;
  const auto info = Message().whole(1, success).real(2, time).text();
  const auto value = hparams_value("_hparams_/session_end_info", 4, info);
  return event_at(time, step).bytes(event_field::summary, Message().bytes(1, value).text()).text();
}

}  // namespace muster::tracking
