#include "bind/long_call.hpp"

#include <nanobind/eval.h>

#include <atomic>
#include <chrono>

#include "parallel/waiting.hpp"

namespace nb = nanobind;

namespace {

// A thread that asks for the GIL while the interpreter ends is ended by CPython (before 3.14) with
// an unwinding that no noexcept function survives: the whole process would abort. A daemon thread
// in the middle of a fit is such a thread. So nobody but the thread that ends the interpreter asks
// any more.
std::atomic<bool> shutting_down{false};
std::atomic<int> asking{0};
std::atomic<unsigned long> ends_the_interpreter{0};  // a thread

bool must_not_ask() {
    return shutting_down.load() && ends_the_interpreter.load() != PyThread_get_thread_ident();
}

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing() != 0;
#else
    return _Py_IsFinalizing() != 0;
#endif
}

// Called by `atexit`, with the GIL: those who ask for it have to get it before the interpreter
// ends. A forked child may have copied a count of askers that are not there, and does not wait
// long.
void begin_shutdown() {
    ends_the_interpreter.store(PyThread_get_thread_ident());
    shutting_down.store(true);
    nb::gil_scoped_release release;
    bosquet::wait_at_most(std::chrono::milliseconds(100), [] { return asking.load() == 0; });
}

}  // namespace

// Only the interpreter's loop looks for signals and exceptions, so a line of Python is run.
void raise_pending() {
    struct Asking {
        Asking() { ++asking; }
        ~Asking() { --asking; }
    } asks;
    if (must_not_ask()) return;
    nb::gil_scoped_acquire acquire;
    nb::eval("None", nb::dict());
}

ReleasedGil::ReleasedGil() : state_(PyEval_SaveThread()) {}

ReleasedGil::~ReleasedGil() {
    // There is no Python to return to. Newer versions of CPython let such a thread hang as well.
    while (must_not_ask() && is_finalizing())
        bosquet::wait_at_most(std::chrono::hours(1), [] { return false; });
    PyEval_RestoreThread(state_);
}

void bind_shutdown() {
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(begin_shutdown));
}
