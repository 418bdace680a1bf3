#include <muster/error.hpp>
#include <muster/setting.hpp>

#include "devices/choose_devices.hpp"
#include "fuzz/fuzz.hpp"

/// First line: the user's CUDA_VISIBLE_DEVICES; second: what follows --devices.
int muster::fuzz::try_input(std::string_view input) {
  using launcher::NvidiaDevice;
  launcher::NvidiaDevices host;
  host.usable = {NvidiaDevice{"GPU-8932f937-a", "0000:01:00.0", "H200", 0},
                 NvidiaDevice{"GPU-0c5d2e11-b", "0000:02:00.0", "H200", 1},
                 NvidiaDevice{"MIG-377e0049-c", "0000:03:00.0", "H200", 2},
                 NvidiaDevice{"", "0000:04:00.0", "H200", 3}};
  const auto end = input.find('\n');
  const std::string visible(input.substr(0, end));
  const std::string devices(end == input.npos ? "" : input.substr(end + 1));
  const auto& row = *find_setting_by_id("launch.devices");
  try {
    launcher::visible_devices(visible, host, devices.size() % 2 == 0);
    Settings settings;
    row.member.write(settings, parse_value(row, devices));
    const auto choice =
        launcher::choose_devices(settings.launch, {{"CUDA_VISIBLE_DEVICES", visible}}, host);
    require(choice.devices.size() <= host.usable.size(), "no more devices than there are");
  } catch (const ConfigError&) {
    return 1;
  }
  return 0;
}
