// Holds the compiled form of a model, which is created after enough rows have been predicted
// without it.
//
// Many threads may predict at the same time, and the process may fork at any moment. There is no
// lock, because a fork could copy it while it is held. Instead, the thread that creates the
// compiled form claims the slot with the number of its process, and publishes the form when it is
// complete. A forked child that finds the claim of its parent takes it over.
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

    // Has to be called when the trees change; no other thread may be predicting.
    void reset() {
        state_.store(kEmpty, std::memory_order_relaxed);
        compiled_ = nullptr;
        walked_.store(0, std::memory_order_relaxed);
    }

    // nullptr if there is none.
    std::shared_ptr<const CompiledEnsemble> get() const {
        return state_.load(std::memory_order_acquire) == kReady ? compiled_ : nullptr;
    }

    // Returns the compiled form, or creates it with make(). If another thread is creating it, waits
    // for a limited time and returns nullptr if that was not enough.
    template <class Make>
    std::shared_ptr<const CompiledEnsemble> get_or_make(Make make) const {
        if (!claim()) {
            wait_at_most(kMaxWait, [&] { return state_.load(std::memory_order_relaxed) <= 0; });
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

    // The number of rows predicted without the compiled form, including these.
    std::size_t count_walked(std::size_t rows) const {
        return walked_.fetch_add(rows, std::memory_order_relaxed) + rows;
    }
    // How often the compiled form was created.
    std::size_t made() const { return made_.load(std::memory_order_relaxed); }

  private:
    static constexpr long kEmpty = 0, kReady = -1;  // otherwise the process whose thread creates it
    static constexpr std::chrono::milliseconds kMaxWait{250};

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
