#pragma once

#include <muster/tracker.hpp>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>

namespace muster {

struct PrometheusOptions {
  std::string prefix = "muster_";  ///< Of the names of metrics.
  /// The file is not written more often; 0: at each record.
  std::chrono::duration<double> interval = std::chrono::seconds(1);
};

/// A tracker that keeps the newest numbers in a text file which Prometheus's node exporter
/// (textfile collector) or any other reader takes up; hand it to init_trackers:
///
///   options.trackers = {std::make_shared<PrometheusTracker>("/var/lib/metrics/train.prom")};
///
/// The file is replaced as a whole, so a reader never sees half of it. Letters that names of
/// metrics cannot have become '_'; the label `name` has the name as it was given. Texts are left
/// out.
class PrometheusTracker final : public Tracker {
 public:
  explicit PrometheusTracker(std::filesystem::path path, PrometheusOptions options = {});

  std::string_view name() const override { return "prometheus"; }
  void start(const TrackedRun& run) override;
  void log(const TrackedRecord& record) override;
  void finish() override { write(); }

 private:
  using Clock = std::chrono::steady_clock;
  void write();

  std::filesystem::path path_;
  PrometheusOptions options_;
  std::string project_;
  std::map<std::string, std::map<std::string, double>> values_;  ///< By metric, then by name.
  Clock::time_point written_{};
};

}  // namespace muster
