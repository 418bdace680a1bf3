#include "log_file.hpp"

#include <muster/write_all.hpp>

namespace muster::launcher {

bool LogFile::write(std::string_view bytes) noexcept {
  if (!file_) return true;
  error_ = write_all(file_.get(), bytes);
  if (error_ != 0) file_.reset();
  return error_ == 0;
}

}  // namespace muster::launcher
