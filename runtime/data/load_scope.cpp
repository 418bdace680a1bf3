#include "data/load_scope.hpp"

#include <ATen/Parallel.h>

#include <dlfcn.h>
#include <pthread.h>

namespace muster {

WorkerSignals::WorkerSignals() noexcept {
  sigset_t blocked;
  sigfillset(&blocked);
  // A fault of the thread itself: if it were blocked, the process would end without its handler.
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) {
    sigdelset(&blocked, fault);
  }
  pthread_sigmask(SIG_SETMASK, &blocked, &before_);
}

WorkerSignals::~WorkerSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void enter_worker_thread() noexcept {
  pthread_setname_np(pthread_self(), "muster-data");
  // LibTorch sets a thread's number once, when it is first asked for, and at::set_num_threads would
  // change that of later threads too. OpenMP's own call is for the calling thread only.
  (void)at::get_num_threads();
  using SetThreads = void (*)(int);
  if (void* found = dlsym(RTLD_DEFAULT, "omp_set_num_threads")) {
    reinterpret_cast<SetThreads>(found)(1);
  }
}

}  // namespace muster
