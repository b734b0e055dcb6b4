// Stopping a long call in the middle, for example by Ctrl-C.
//
// Whoever calls the core makes an InterruptScope with a question: may the work go on? Loops that
// can take long call check_interrupt() now and then. On the thread of the scope that asks the
// question, every 50 ms at most, and the question throws if the work is to end. On the threads of a
// team, which carry the scope of their caller, it throws Interrupted once the question has thrown.
// Without a scope nothing happens.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>

namespace bosquet {

// What ends the work of other threads than the one that was interrupted.
struct Interrupted : std::exception {
    const char* what() const noexcept override { return "interrupted"; }
};

// How long nobody asks after a question.
constexpr std::chrono::milliseconds kInterruptInterval{50};

class InterruptScope {
  public:
    using Question = void (*)();

    explicit InterruptScope(Question may_go_on);
    ~InterruptScope();
    InterruptScope(const InterruptScope&) = delete;
    InterruptScope& operator=(const InterruptScope&) = delete;

    // The scope of this thread, to be carried to others; null if there is none.
    static InterruptScope* current();

    // While it lives, this thread works for a scope of another thread.
    class Carried {
      public:
        explicit Carried(InterruptScope* scope);
        ~Carried();
        Carried(const Carried&) = delete;
        Carried& operator=(const Carried&) = delete;

      private:
        InterruptScope* before_;
        bool asked_here_before_;
    };

    // Asks, if it is this thread's turn and time.
    void look(bool asked_here);

  private:
    using Clock = std::chrono::steady_clock;

    Question may_go_on_;
    Clock::time_point asked_;
    std::atomic<bool> stopped_{false};
    Carried carried_;
};

// Called in loops that can take long. `steps` tells how much work lies behind, in units of about a
// nanosecond: the clock is read once for many small steps. By default the step is a large one.
constexpr std::size_t kStepsToLook = 1 << 16;
void check_interrupt(std::size_t steps = kStepsToLook);

}  // namespace bosquet
