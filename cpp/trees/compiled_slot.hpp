// Where a model keeps the form that predicts fast, made once enough rows have been predicted
// without it.
//
// Many threads may predict at once, and the process may fork at any moment. So there is no lock
// that a fork could copy while it is held: the one thread that makes the form claims the slot in
// the name of its process, and publishes the form when it is whole. A forked child that finds the
// claim of its parent takes it over.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>

#include "parallel/process.hpp"
#include "parallel/waiting.hpp"

namespace bosquet {

class CompiledEnsemble;  // trees/compile.hpp

class CompiledSlot {
  public:
    CompiledSlot() = default;
    // A copy of the model starts with an empty slot.
    CompiledSlot(const CompiledSlot&) {}
    CompiledSlot& operator=(const CompiledSlot&) {
        reset();
        return *this;
    }

    // For whoever changes the trees; nobody may be predicting meanwhile.
    void reset() {
        state_.store(kEmpty, std::memory_order_relaxed);
        compiled_ = nullptr;
        walked_.store(0, std::memory_order_relaxed);
    }

    // Null if it is not there.
    std::shared_ptr<const CompiledEnsemble> get() const {
        return state_.load(std::memory_order_acquire) == kReady ? compiled_ : nullptr;
    }

    // What is there, or else what make() returns. If another thread is making it, it is waited for
    // some time; null if that was not enough.
    template <class Make>
    std::shared_ptr<const CompiledEnsemble> get_or_make(Make make) const {
        if (!claim()) {
            wait_at_most(kPatience, [&] { return state_.load(std::memory_order_relaxed) <= 0; });
            return get();
        }
        try {
            compiled_ = make();
        } catch (...) {
            state_.store(kEmpty, std::memory_order_release);
            throw;
        }
        made_.fetch_add(1, std::memory_order_relaxed);
        state_.store(kReady, std::memory_order_release);
        return compiled_;
    }

    // Rows predicted without the compiled form, these included.
    std::size_t count_walked(std::size_t rows) const {
        return walked_.fetch_add(rows, std::memory_order_relaxed) + rows;
    }
    // How often it was made.
    std::size_t made() const { return made_.load(std::memory_order_relaxed); }

  private:
    static constexpr long kEmpty = 0, kReady = -1;  // else the process whose thread makes it
    static constexpr std::chrono::milliseconds kPatience{250};

    bool claim() const {
        long state = kEmpty, mine = this_process();
        if (state_.compare_exchange_strong(state, mine, std::memory_order_acquire)) return true;
        return state > 0 && state != mine &&
               state_.compare_exchange_strong(state, mine, std::memory_order_acquire);
    }

    mutable std::atomic<long> state_{kEmpty};
    mutable std::shared_ptr<const CompiledEnsemble> compiled_;
    mutable std::atomic<std::size_t> walked_{0}, made_{0};
};

}  // namespace bosquet
