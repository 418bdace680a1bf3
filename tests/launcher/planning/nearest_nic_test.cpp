#include "planning/nearest_nic.hpp"

#include <catch2/catch_test_macros.hpp>

using muster::launcher::Layout;
using muster::launcher::nearest_nics;
using Names = std::vector<std::string>;

TEST_CASE("The network device under the same switch is the nearest, then one of the node") {
  Layout layout;
  layout.pci = {{"a", 0, {"root", "switch-1"}},
                {"b", 0, {"root", "switch-2"}},
                {"c", 1, {"other"}},
                {"d", -1, {}},
                {"n1", 0, {"root", "switch-1"}},
                {"n2", 0, {"root", "switch-2"}},
                {"n3", 1, {"third"}}};
  layout.nics = {{"mlx5_0", "n1"}, {"mlx5_1", "n2"}, {"mlx5_2", "n3"}};
  CHECK(nearest_nics(layout, {"b", "a", "c", "d", "unknown"}) ==
        Names{"mlx5_1", "mlx5_0", "mlx5_2", "", ""});
}

TEST_CASE("Of network devices that are as near each is taken in turn") {
  Layout layout;
  layout.pci = {
      {"a", 0, {"switch"}}, {"b", 0, {"switch"}}, {"n1", 0, {"switch"}}, {"n2", 0, {"switch"}}};
  layout.nics = {{"mlx5_0", "n1"}, {"mlx5_1", "n2"}};
  CHECK(nearest_nics(layout, {"a", "b", "a"}) == Names{"mlx5_0", "mlx5_1", "mlx5_0"});
  CHECK(nearest_nics({}, {"a"}) == Names{""});
}
