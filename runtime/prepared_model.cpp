#include "prepared_model.hpp"

#include <muster/control.hpp>
#include <muster/model.hpp>

#include <c10/core/GradMode.h>

#include <utility>

namespace muster {

void PreparedModel::begin(bool closes_window) {
  synchronises = closes_window;
  strategy->begin_micro_step(closes_window);
}

std::shared_ptr<PreparedModel> prepare_model(std::unique_ptr<ModuleView> module,
                                             std::unique_ptr<Strategy> strategy) {
  auto model = std::make_shared<PreparedModel>();
  model->module = std::move(module);
  model->strategy = std::move(strategy);
  model->strategy->prepare(
      {tensors_of(*model->module).parameters,
       // The strategy is the model's own, so the module outlives its questions.
       [view = model->module.get()] { return view->buffers(); }});
  return model;
}

Autocast ModelHandle::begin_forward() const {
  Control::instance().active();
  if (prepared_->module->training() && c10::GradMode::is_enabled()) {
    if (prepared_->join && prepared_->join->active()) {
      (void)prepared_->join->tell(
          {.kind = JoinCall::Kind::forward, .object = Join::bit(*prepared_)});
    }
    prepared_->strategy->begin_forward();
  }
  if (!is_narrow()) return {};
  return {prepared_->device.type(), prepared_->dtype};
}

bool ModelHandle::is_narrow() const noexcept { return prepared_->dtype.has_value(); }

}  // namespace muster
