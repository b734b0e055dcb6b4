// Interrupts a long call, for example after Ctrl-C.
//
// The caller of the core creates an InterruptScope with a callback that throws if the work has to
// end. Loops that can take long call check_interrupt() regularly. On the thread that created the
// scope, check_interrupt() runs the callback, at most every 50 ms. The threads of a team are
// attached to the scope of their caller; there check_interrupt() throws Interrupted after the
// callback has thrown. Without a scope nothing happens.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>

namespace bosquet {

// Ends the work of the other threads when one thread is interrupted.
struct Interrupted : std::exception {
    const char* what() const noexcept override { return "interrupted"; }
};

// The minimum time between two calls of the callback.
constexpr std::chrono::milliseconds kInterruptInterval{50};

class InterruptScope {
  public:
    using Callback = void (*)();

    explicit InterruptScope(Callback raise_if_pending);
    ~InterruptScope();
    InterruptScope(const InterruptScope&) = delete;
    InterruptScope& operator=(const InterruptScope&) = delete;

    // The scope of this thread, to attach other threads to; nullptr if there is none.
    static InterruptScope* current();

    // During its lifetime, this thread works for the scope of another thread.
    class Attached {
      public:
        explicit Attached(InterruptScope* scope);
        ~Attached();
        Attached(const Attached&) = delete;
        Attached& operator=(const Attached&) = delete;

      private:
        InterruptScope* previous_scope_;
        bool previously_owned_;
    };

    // Throws Interrupted if the scope was interrupted. On the thread that owns the scope, calls the
    // callback if the interval has passed.
    void poll(bool owns_scope);

  private:
    using Clock = std::chrono::steady_clock;

    Callback raise_if_pending_;
    Clock::time_point last_call_;
    std::atomic<bool> stopped_{false};
    Attached attached_;
};

// Called in loops that can take long. `steps` is the work since the last call in units of about a
// nanosecond, so that the clock is read only once for many small steps. The default is one large
// step.
constexpr std::size_t kStepsToPoll = 1 << 16;
void check_interrupt(std::size_t steps = kStepsToPoll);

}  // namespace bosquet
