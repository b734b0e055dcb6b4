// Support for long calls: an exception that is pending in Python for this thread ends the call.
//
// Such an exception is KeyboardInterrupt after Ctrl-C, an exception raised by the handler of
// another signal, or one that another thread has set for this thread.
#pragma once

#include <nanobind/nanobind.h>

#include "base/interrupt.hpp"

// Raises the exception that is pending for this thread, if there is one.
void raise_pending();

// Releases the GIL during its lifetime, so that other Python threads run. If the interpreter has
// shut down in the meantime, the destructor never returns.
class ReleasedGil {
  public:
    ReleasedGil();
    ~ReleasedGil();
    ReleasedGil(const ReleasedGil&) = delete;
    ReleasedGil& operator=(const ReleasedGil&) = delete;

  private:
    PyThreadState* state_;
};

// Registers the shutdown handler with `atexit`.
void bind_shutdown();

// Releases the GIL and enables interrupts during its lifetime; no Python object may be touched. A
// loop that creates Python objects keeps the GIL and uses InterruptScope(raise_pending) itself.
class LongCall {
  public:
    LongCall() : interrupt_(raise_pending) {}

  private:
    ReleasedGil release_;
    bosquet::InterruptScope interrupt_;
};
