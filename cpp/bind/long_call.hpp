// For calls that may take long: an exception that Python has for this thread ends them.
//
// That is KeyboardInterrupt after Ctrl-C, whatever a handler of another signal raises, or what
// another thread has set for this one.
#pragma once

#include <nanobind/nanobind.h>

#include "base/interrupt.hpp"

// Raises the exception that Python has for this thread, if there is one.
void raise_pending();

// While it lives, other Python threads run. A thread that outlives the interpreter stays here.
class ReleasedGil {
  public:
    ReleasedGil();
    ~ReleasedGil();
    ReleasedGil(const ReleasedGil&) = delete;
    ReleasedGil& operator=(const ReleasedGil&) = delete;

  private:
    PyThreadState* state_;
};

// Has the end of the interpreter announced.
void bind_shutdown();

// While it lives, other Python threads run, and nothing of Python may be touched. A loop that makes
// Python objects keeps the GIL and has an InterruptScope(raise_pending) of its own.
class LongCall {
  public:
    LongCall() : interrupt_(raise_pending) {}

  private:
    ReleasedGil release_;
    bosquet::InterruptScope interrupt_;
};
