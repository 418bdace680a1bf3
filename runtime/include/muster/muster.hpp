#pragma once

#include <muster/accelerator.hpp>
#include <muster/data_loader.hpp>
#include <muster/dataset.hpp>
#include <muster/error.hpp>
#include <muster/log.hpp>
#include <muster/progress.hpp>
#include <muster/safetensors.hpp>
#include <muster/scheduler.hpp>
#include <muster/schedules.hpp>
#include <muster/split_parameters.hpp>
#include <muster/tracker.hpp>
