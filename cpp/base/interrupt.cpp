#include "base/interrupt.hpp"

namespace bosquet {

namespace {

// What this thread works for.
struct Here {
    InterruptScope* scope = nullptr;
    bool asks = false;  // whether it is the thread of the scope
    std::size_t steps = 0;
};
thread_local Here here;

}  // namespace

InterruptScope::InterruptScope(Question may_go_on)
    : may_go_on_(may_go_on), asked_(Clock::now()), carried_(this) {
    here.asks = true;
}

InterruptScope::~InterruptScope() = default;

InterruptScope* InterruptScope::current() { return here.scope; }

InterruptScope::Carried::Carried(InterruptScope* scope)
    : before_(here.scope), asked_here_before_(here.asks) {
    here.scope = scope;
    here.asks = false;
}

InterruptScope::Carried::~Carried() {
    here.scope = before_;
    here.asks = asked_here_before_;
}

void InterruptScope::look(bool asked_here) {
    if (stopped_.load(std::memory_order_relaxed)) throw Interrupted();
    if (!asked_here) return;
    Clock::time_point now = Clock::now();
    if (now - asked_ < kInterruptInterval) return;
    try {
        may_go_on_();
    } catch (...) {
        stopped_.store(true, std::memory_order_relaxed);
        throw;
    }
    // The answer may have taken long, if Python was busy.
    asked_ = Clock::now();
}

void check_interrupt(std::size_t steps) {
    here.steps += steps;
    if (here.steps < kStepsToLook) return;
    here.steps = 0;
    if (here.scope != nullptr) here.scope->look(here.asks);
}

}  // namespace bosquet
