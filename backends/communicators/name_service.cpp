#include "communicators/name_service.hpp"

// These two first: resolv.h needs them.
#include <netinet/in.h>
#include <resolv.h>
#include <sys/types.h>

namespace muster {

// The resolver's state is the thread's own. Without servers a query fails at once, and the address
// stands for the name.
NameServiceOff::NameServiceOff() noexcept : servers_(0) {
  if ((_res.options & RES_INIT) == 0) {
    res_init();
  }
  servers_ = _res.nscount;
  _res.nscount = 0;
}

NameServiceOff::~NameServiceOff() { _res.nscount = servers_; }

}  // namespace muster
