#pragma once

#include <muster/combined_schedules.hpp>
#include <muster/cosine_schedules.hpp>
#include <muster/one_cycle.hpp>
#include <muster/plateau.hpp>
#include <muster/schedule.hpp>
#include <muster/simple_schedules.hpp>
