#include "base/interrupt.hpp"

namespace bosquet {

namespace {

// The scope that this thread works for.
struct ThreadState {
    InterruptScope* scope = nullptr;
    bool owns_scope = false;  // whether the scope was created on this thread
    std::size_t steps = 0;
};
thread_local ThreadState thread_state;

}  // namespace

InterruptScope::InterruptScope(Callback raise_if_pending)
    : raise_if_pending_(raise_if_pending), last_call_(Clock::now()), attached_(this) {
    thread_state.owns_scope = true;
}

InterruptScope::~InterruptScope() = default;

InterruptScope* InterruptScope::current() { return thread_state.scope; }

InterruptScope::Attached::Attached(InterruptScope* scope)
    : previous_scope_(thread_state.scope), previously_owned_(thread_state.owns_scope) {
    thread_state.scope = scope;
    thread_state.owns_scope = false;
}

InterruptScope::Attached::~Attached() {
    thread_state.scope = previous_scope_;
    thread_state.owns_scope = previously_owned_;
}

void InterruptScope::poll(bool owns_scope) {
    if (stopped_.load(std::memory_order_relaxed)) throw Interrupted();
    if (!owns_scope) return;
    Clock::time_point now = Clock::now();
    if (now - last_call_ < kInterruptInterval) return;
    try {
        raise_if_pending_();
    } catch (...) {
        stopped_.store(true, std::memory_order_relaxed);
        throw;
    }
    // Not `now`: the callback may have waited for a busy Python.
    last_call_ = Clock::now();
}

void check_interrupt(std::size_t steps) {
    thread_state.steps += steps;
    if (thread_state.steps < kStepsToPoll) return;
    thread_state.steps = 0;
    if (thread_state.scope != nullptr) thread_state.scope->poll(thread_state.owns_scope);
}

}  // namespace bosquet
