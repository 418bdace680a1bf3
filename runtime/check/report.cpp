#include "check/report.hpp"

#include <muster/error.hpp>
#include <muster/write_all.hpp>

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace muster::check {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Report::Report(const std::string& folder, int rank) : fd_(STDOUT_FILENO), owned_(false) {
  if (folder.empty()) return;
  const auto path = folder + "/check-" + std::to_string(rank) + ".jsonl";
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd_ < 0) throw Error("cannot write " + path + ": " + std::strerror(errno));
  owned_ = true;
}

Report::~Report() {
  if (owned_) ::close(fd_);
}

void Report::announce(const std::vector<std::string_view>& checks) {
  write(Json{{"checks", checks}}.dump());
}

void Report::facts(const RankFacts& facts) {
  write(Json{{"facts",
              {{"cpus", facts.cpus},
               {"threads", facts.threads},
               {"device", facts.device},
               {"libtorch", facts.libtorch}}}}
            .dump());
}

void Report::begin(std::string_view check) { write(Json{{"begin", check}}.dump()); }

void Report::end(std::string_view check, const Findings& findings, double seconds) {
  auto faults = Json::array();
  for (const auto& fault : findings.faults) {
    faults.push_back(
        {{"where", fault.where}, {"expected", fault.expected}, {"found", fault.found}});
  }
  const Json line{{"end", check},
                  {"looked_at", findings.looked_at},
                  {"seconds", seconds},
                  {"fault_count", findings.fault_count},
                  {"faults", std::move(faults)},
                  {"not_checked", findings.not_checked}};
  // An exception's text may be of any bytes.
  write(line.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void Report::finish(const std::vector<int>& faulty) { write(Json{{"faulty", faulty}}.dump()); }

void Report::write(std::string line) const {
  line += '\n';
  const int error = write_all(fd_, line);
  if (error != 0) throw Error(std::string("cannot write what was found: ") + std::strerror(error));
}

}  // namespace muster::check
