#include "bind/long_call.hpp"

#include <nanobind/eval.h>

#include <atomic>
#include <chrono>

#include "parallel/waiting.hpp"

namespace nb = nanobind;

namespace {

// A thread that acquires the GIL while the interpreter shuts down is terminated by CPython (before
// 3.14) by unwinding its stack. Unwinding through a noexcept function aborts the whole process. A
// daemon thread in the middle of a fit is such a thread. Therefore only the thread that shuts down
// the interpreter may acquire the GIL once the shutdown has begun.
std::atomic<bool> shutting_down{false};
std::atomic<int> n_acquiring{0};
std::atomic<unsigned long> shutdown_thread{0};  // its identifier

bool must_not_acquire() {
    return shutting_down.load() && shutdown_thread.load() != PyThread_get_thread_ident();
}

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing() != 0;
#else
    return _Py_IsFinalizing() != 0;
#endif
}

// Called by `atexit` with the GIL held: threads that are acquiring the GIL have to get it before
// the interpreter ends. The wait has a time limit because a forked child may have copied a positive
// count of threads that do not exist in it.
void begin_shutdown() {
    shutdown_thread.store(PyThread_get_thread_ident());
    shutting_down.store(true);
    nb::gil_scoped_release release;
    bosquet::wait_at_most(std::chrono::milliseconds(100), [] { return n_acquiring.load() == 0; });
}

// While it lives, `begin_shutdown` waits: this thread is about to get the GIL.
struct Acquiring {
    Acquiring() { ++n_acquiring; }
    ~Acquiring() { --n_acquiring; }
};

}  // namespace

// Only the interpreter's loop checks for signals and asynchronous exceptions, so a line of Python
// is run.
void raise_pending() {
    Acquiring acquiring;
    if (must_not_acquire()) return;
    nb::gil_scoped_acquire acquire;
    nb::eval("None", nb::dict());
}

ReleasedGil::ReleasedGil() : state_(PyEval_SaveThread()) {}

ReleasedGil::~ReleasedGil() {
    {
        Acquiring acquiring;
        if (!must_not_acquire()) {
            PyEval_RestoreThread(state_);
            return;
        }
    }
    // The shutdown has begun. If this thread asked for the GIL now, it could still be waiting for
    // it when the interpreter ends, and would be terminated. It therefore first waits for that end.
    // The limit is for a handler of `atexit` that itself waits for this thread.
    bool ended = bosquet::wait_at_most(std::chrono::seconds(5), is_finalizing);
    // The interpreter is gone, so that this thread cannot return to it. It waits for the end of the
    // process, as newer versions of CPython do as well.
    while (ended) bosquet::wait_at_most(std::chrono::hours(1), [] { return false; });
    PyEval_RestoreThread(state_);
}

void bind_shutdown() {
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(begin_shutdown));
}
