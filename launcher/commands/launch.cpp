#include <muster/error.hpp>

#include "commands/commands.hpp"
#include "commands/launch_end.hpp"
#include "commands/sources.hpp"
#include "devices/choose_devices.hpp"
#include "planning/address.hpp"
#include "planning/make_plan.hpp"
#include "planning/plan_text.hpp"
#include "planning/run_directory.hpp"
#include "port.hpp"
#include "report/json_report.hpp"
#include "screen/screen.hpp"
#include "supervise.hpp"

#include <fmt/core.h>

#include <cstdint>
#include <sys/random.h>
#include <unistd.h>
#include <utility>

namespace muster::launcher {
namespace {

constexpr CommandFlag flags[] = {
    {"--module", 'm', "", "The program is a Python module; ends muster's options."},
    {"--config", 0, "FILE", "Settings file, instead of ./muster.toml."},
    {"--no-config", 0, "", "Read no settings file."},
    {"--dry-run", 0, "", "Print what each rank would run, and start nothing."},
    {"--report", 0, "FILE", "Write how the job ended to FILE, as JSON."},
    {"--quiet", 'q', "", "Of muster's own lines only the first of a failure."},
    {"--verbose", 'v', "", "Say what was decided, and which flags had no effect."},
    {"--help", 'h', "", "This text."},
};

std::string random_id() {
  std::uint32_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) < 0) {
    number = static_cast<std::uint32_t>(::getpid());
  }
  return fmt::format("{:08x}", number);
}

/// The one line of a launch that decided something by itself: how many ranks (`why`), or that it
/// took a file.
void announce(const Launch& launch, const Resolution& resolution, const std::string& why) {
  if (launch.quiet()) return;
  std::string text = why;
  for (const auto& note : resolution.notes()) text += (text.empty() ? "" : "; ") + note;
  if (!text.empty()) complain(text, launch.environment);
}

int start(const Launch& launch) {
  const auto& line = launch.line;
  const auto& environment = launch.environment;
  if (line.program.empty()) {
    throw ConfigError("no program given; for example: muster launch -n 2 -- ./train --epochs 3");
  }
  if (const auto path = line.value("--report")) check_report_path(*path);
  const auto resolution = resolve(sources_of(line, environment));
  const auto& settings = resolution.settings();
  const auto topology = discover(Sysroot(), nvml_use(settings.launch, environment));

  Job job{line.program, line.module, environment, random_id(), "", "", 0};
  job.address = literal_address(settings.launch.master_addr);
  job.port = static_cast<std::uint16_t>(settings.launch.master_port);
  if (line.has("--dry-run")) {
    announce(launch, resolution, "");
    print_out(plan_text(make_plan(resolution, topology, job), settings.train, topology.cpus,
                        environment, Screen::of(STDOUT_FILENO, environment)));
    return 0;
  }
  Outcome outcome;
  {
    const RunDirectory directory(environment);
    auto port = reserve_port(job.address, job.port);
    job.run_directory = directory.path();
    job.port = port.port;
    const auto plan = make_plan(resolution, topology, job);
    announce(launch, resolution, plan.why_ranks);
    if (launch.verbose()) {
      for (const auto& note : line.notes) complain(note, environment);
      print_error(plan_text(plan, settings.train, topology.cpus, environment,
                            Screen::of(STDERR_FILENO, environment)));
    }
    outcome = supervise(plan, settings.launch, std::move(port));
    tell_end(launch, resolution, plan, outcome);
  }
  return exit_code_of(outcome);
}

}  // namespace

std::span<const CommandFlag> launch_flags() { return flags; }

int launch(Words words, const Environment& environment) {
  Launch launch{{}, environment, {"muster", "launch"}};
  launch.command_line.insert(launch.command_line.end(), words.begin(), words.end());
  try {
    parse_words(words, {"launch", flags, true, true}, &launch.line);
    if (launch.line.has("--help")) {
      print_out(help_of("launch", Screen::of(STDOUT_FILENO, environment).width));
      return 0;
    }
    return start(launch);
  } catch (const Error& error) {
    report_error(launch, words, error);
    throw;
  }
}

}  // namespace muster::launcher
