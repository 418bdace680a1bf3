#include "commands/launch_hosts.hpp"

#include <muster/error.hpp>

#include "planning/program.hpp"
#include "planning/run_directory.hpp"
#include "rendezvous/node_link.hpp"
#include "rendezvous/rendezvous.hpp"
#include "screen/screen.hpp"
#include "supervise/executable.hpp"
#include "supervise/signal_hold.hpp"
#include "supervise/start_fault.hpp"

#include <fmt/core.h>

#include <utility>

namespace muster::launcher {
namespace {

bool each_decides(const LaunchSettings& launch) {
  return launch.nproc_per_node || launch.num_processes.is_auto();
}

std::string search_path(const Job& job, const LaunchSettings& launch) {
  for (const auto* environment : {&launch.env, &job.environment}) {
    const auto found = environment->find("PATH");
    if (found != environment->end()) return found->second;
  }
  return "";
}

/// Whether the program can be started here at all: others need not wait for a host that cannot.
StartFault start_fault(const Job& job, const LaunchSettings& launch) {
  const auto name = program_argv(job.program, job.module, job.environment).front();
  const auto found = find_executable(name, search_path(job, launch));
  if (found.error == 0) return {};
  return describe_start_fault(name, found.path, StartStage::exec, found.error);
}

/// What other hosts cannot know of a rank of ours.
void complete(Outcome& own, const Plan& plan) {
  const auto* spec = own.first ? plan.find(own.first->rank) : nullptr;
  if (spec == nullptr) return;
  own.first->host = spec->host;
  own.first->local_rank = spec->world.local_rank;
}

/// How a job ended that a signal kept from beginning.
Outcome outcome_of(const Interrupted& interrupted) {
  Outcome outcome;
  outcome.kind = OutcomeKind::interrupted;
  outcome.signal = interrupted.signal();
  outcome.from_terminal = interrupted.from_terminal();
  outcome.exit_code = static_cast<int>(interrupted.exit_code());
  return outcome;
}

/// This host's part of one job.
class HostOfJob {
 public:
  HostOfJob(const CommandLine& line, const Resolution& resolution, const Topology& topology,
            Job job)
      : line_(line),
        resolution_(resolution),
        launch_(resolution.settings().launch),
        topology_(topology),
        job_(std::move(job)) {
    // Names are looked up while signals still end the process: that may take its time.
    options_.timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(launch_.rdzv_timeout);
    options_.token = read_token(launch_, SettingNames(resolution), job_.environment);
    options_.new_run_id = job_.run_id;
    options_.tell = [this](const std::string& text) {
      if (!line_.has("--quiet")) complain(text, job_.environment);
    };
    place_ = find_meeting_place(launch_, SettingNames(resolution), meeting_port(resolution),
                                options_.tell);
  }

  JobEnd run() {
    const SignalHold hold;
    try {
      NodeLink link(meet(), launch_.grace);
      try {
        start(link);
      } catch (const Error& error) {
        link.abandon(static_cast<int>(error.exit_code()), error.what());
        throw;
      }
    } catch (const Interrupted& interrupted) {
      end_.outcome = outcome_of(interrupted);
    }
    return std::move(end_);
  }

 private:
  Meeting meet() {
    const auto devices =
        choose_devices(launch_, job_.environment, topology_.nvidia, SettingNames(resolution_));
    const auto fault = start_fault(job_, launch_);
    const auto fails = [&] { return Error(fault.message, static_cast<ExitCode>(fault.exit_code)); };
    if (fault.exit_code != 0) {
      if (place_.listens && !place_.by_arrival) throw fails();
      // Node 0 is told, if it is there by now, so that nobody waits for this host.
      constexpr std::chrono::seconds to_tell{3};
      options_.timeout = std::min<std::chrono::nanoseconds>(options_.timeout, to_tell);
    }
    const Attendance attendance{topology_.host,  job_.program,
                                job_.module,     least_ranks_here(launch_, devices),
                                fault.exit_code, fault.message};
    try {
      return launcher::meet(resolution_, attendance, place_, options_);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error&) {
      if (fault.exit_code != 0) throw fails();
      throw;
    }
  }

  void start(NodeLink& link) {
    const Meeting& meeting = link.meeting();
    job_.run_id = meeting.run_id;
    job_.address = meeting.master_addr;
    job_.port = meeting.port.port;
    job_.node_rank = meeting.node_rank;
    int first = 0;
    for (const auto& node : meeting.nodes) {
      job_.nodes.push_back({node.host, node.address, first, node.ranks});
      first += node.ranks;
    }
    const RunDirectory directory(job_.environment);
    job_.run_directory = directory.path();
    end_.plan = make_plan(resolution_, topology_, job_);
    announce_start(line_, resolution_, topology_, job_, end_.plan);
    link.complete_with([this](Outcome& own) { complete(own, end_.plan); });
    end_.outcome = supervise(
        end_.plan, launch_, link.take_port(),
        {.names = SettingNames(resolution_), .link = &link, .quiet = line_.has("--quiet")});
    if (job_.collect) job_.collect(end_.plan);
  }

  const CommandLine& line_;
  const Resolution& resolution_;
  const LaunchSettings& launch_;
  const Topology& topology_;
  Job job_;
  MeetingOptions options_;
  MeetingPlace place_;
  JobEnd end_;
};

}  // namespace

JobEnd run_on_hosts(const CommandLine& line, const Resolution& resolution, const Topology& topology,
                    Job job) {
  return HostOfJob(line, resolution, topology, std::move(job)).run();
}

void plan_hosts(const Resolution& resolution, const DeviceChoice& devices, const std::string& host,
                Job& job) {
  const auto& launch = resolution.settings().launch;
  job.port = meeting_port(resolution);
  job.address = without_brackets(launch.master_addr);
  job.node_rank = launch.node_rank.value.value_or(0);
  const bool counts_known = !each_decides(launch);
  const int here = counts_known ? 0 : choose_ranks(launch, devices).ranks;
  int first = 0;
  for (int node = 0; node < launch.nnodes; ++node) {
    const int ranks =
        counts_known ? share_of(*launch.num_processes.value, launch.nnodes, node) : here;
    job.nodes.push_back(
        {node == job.node_rank ? host : "", "", std::exchange(first, first + ranks), ranks});
  }
  std::string unknown;
  if (launch.node_rank.is_auto()) unknown = "which node this is (--node-rank), shown as 0";
  if (!counts_known) {
    unknown += fmt::format("{}how many ranks other hosts have, shown as {} each",
                           unknown.empty() ? "" : "; ", here);
  }
  if (!literal_endpoint(job.address, 0))
    unknown += (unknown.empty() ? "" : "; ") + ("the address that " + job.address + " has");
  job.unknown = unknown.empty() ? "" : "until the hosts meet: " + unknown;
}

int least_ranks_here(const LaunchSettings& launch, const DeviceChoice& devices) {
  if (launch.nnodes == 1 || each_decides(launch)) return choose_ranks(launch, devices).ranks;
  auto here = launch;
  const int total = *launch.num_processes.value;
  here.nproc_per_node =
      share_of(total, launch.nnodes, launch.node_rank.value.value_or(launch.nnodes - 1));
  return choose_ranks(here, devices).ranks;
}

}  // namespace muster::launcher
