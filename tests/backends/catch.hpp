#pragma once

// LibTorch's logging has macros of the same names as Catch2's. Whoever comes last stays.
#include <c10/util/Logging.h>

#undef CHECK
#undef CHECK_EQ
#undef CHECK_NE
#undef CHECK_LE
#undef CHECK_LT
#undef CHECK_GE
#undef CHECK_GT

#include <catch2/catch_test_macros.hpp>
