#pragma once

#include <muster/error.hpp>

namespace muster {

/// A file of data is missing, short, damaged or of another kind. what() begins with its name.
class DataError : public Error {
 public:
  using Error::Error;
};

}  // namespace muster
