#include "gradient_hooks.hpp"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/variable.h>

#include <utility>

namespace muster {

/// What hooks share with their GradientHooks, which they may outlive inside a user's hook.
struct GradientHooks::Link {
  GradientListener* listener;                 ///< Null once the hooks were taken out.
  const std::vector<at::Tensor>* parameters;  ///< Alive while there is a listener.
  std::vector<bool> installed;  ///< Per parameter: our hook after accumulation exists.
};

namespace {

using torch::autograd::PostAccumulateGradHook;

/// False in torch::autograd::grad, which hands gradients of leaves to its caller and adds nothing.
bool accumulates(const at::Tensor& parameter) {
  const auto* chosen = torch::autograd::get_current_graph_task_exec_info();
  if (chosen == nullptr || chosen->empty()) return true;
  const auto accumulator = torch::autograd::impl::try_get_grad_accumulator(parameter);
  const auto found = chosen->find(accumulator.get());
  return found != chosen->end() && found->second.needed_;
}

/// Lives in the tensor; runs the user's hook, then ours.
template <class Link>
class AfterAccumulation : public PostAccumulateGradHook {
 public:
  AfterAccumulation(std::shared_ptr<Link> link, std::size_t index,
                    std::unique_ptr<PostAccumulateGradHook> users)
      : link_(std::move(link)), index_(index), users_(std::move(users)) {
    link_->installed[index_] = true;
  }
  ~AfterAccumulation() override { link_->installed[index_] = false; }
  AfterAccumulation(const AfterAccumulation&) = delete;
  AfterAccumulation& operator=(const AfterAccumulation&) = delete;

  void operator()(const at::Tensor& parameter) override {
    if (users_) (*users_)(parameter);
    if (link_->listener != nullptr) link_->listener->after_accumulation(index_);
  }

  bool belongs_to(const std::shared_ptr<Link>& link) const noexcept { return link_ == link; }
  std::unique_ptr<PostAccumulateGradHook> release_users() { return std::move(users_); }

 private:
  std::shared_ptr<Link> link_;
  std::size_t index_;
  std::unique_ptr<PostAccumulateGradHook> users_;
};

}  // namespace

GradientHooks::GradientHooks(std::vector<at::Tensor> parameters, GradientListener& listener)
    : parameters_(std::move(parameters)),
      link_(std::make_shared<Link>(
          Link{&listener, &parameters_, std::vector<bool>(parameters_.size())})) {
  for (std::size_t index = 0; index < parameters_.size(); ++index) {
    before_.push_back(parameters_[index].register_hook([link = link_, index](const at::Tensor&) {
      if (link->listener == nullptr || !accumulates((*link->parameters)[index])) return;
      link->listener->before_accumulation(index);
    }));
    wrap(index);
  }
}

GradientHooks::~GradientHooks() {
  link_->listener = nullptr;
  for (std::size_t index = 0; index < parameters_.size(); ++index) {
    const auto& parameter = parameters_[index];
    parameter.remove_hook(before_[index]);
    auto& slot = torch::autograd::impl::post_acc_grad_hooks(parameter);
    auto* ours = dynamic_cast<AfterAccumulation<Link>*>(slot.get());
    if (ours != nullptr && ours->belongs_to(link_)) slot = ours->release_users();
  }
}

void GradientHooks::refresh() {
  for (std::size_t index = 0; index < parameters_.size(); ++index) {
    if (!link_->installed[index]) wrap(index);
  }
}

void GradientHooks::wrap(std::size_t index) {
  auto& slot = torch::autograd::impl::post_acc_grad_hooks(parameters_[index]);
  slot = std::make_unique<AfterAccumulation<Link>>(link_, index, std::move(slot));
}

}  // namespace muster
