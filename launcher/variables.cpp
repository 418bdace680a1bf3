#include "variables.hpp"

#include <stdexcept>

namespace muster::launcher {

const std::string* Variables::find(const std::string& name) const {
  for (const Environment* set : {&own_, common_.get()})
    if (const auto found = set->find(name); found != set->end()) return &found->second;
  return nullptr;
}

const std::string& Variables::at(const std::string& name) const {
  if (const auto* value = find(name)) return *value;
  throw std::out_of_range("no variable " + name);
}

Environment Variables::whole() const {
  auto all = own_;
  all.insert(common_->begin(), common_->end());
  return all;
}

}  // namespace muster::launcher
