#include "parallel/team.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <system_error>
#include <utility>

#include "parallel/process.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bosquet {

namespace {

void pause_briefly() {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Handing work to a spinning thread takes about a microsecond, waking a sleeping one about fifty.
// The steps of a fit follow each other closely, so that threads spin for a while before they sleep.
// With more threads than processors spinning would only block the other threads.
int spin_limit(int team_size) {
    unsigned processors = std::thread::hardware_concurrency();
    return processors != 0 && static_cast<unsigned>(team_size) > processors ? 0 : 4000;
}

// More threads than processors only take memory. Up to 64 are allowed everywhere, so that small
// machines can run the same settings as large ones.
int max_threads() {
    unsigned processors = std::thread::hardware_concurrency();
    return static_cast<int>(std::clamp(processors, 64u, 1024u));
}

constexpr std::uint32_t kInside = 0x7fff;  // number of threads inside
constexpr std::uint32_t kOpen = 0x8000;
constexpr std::uint32_t kStopping = 0x10000;
constexpr std::uint32_t kNext = 0x20000;  // increments the number of the job

std::uint32_t job_number(std::uint32_t gate) { return gate / kNext; }

// Waits until the gate differs from `old`; returns the new value.
std::uint32_t wait_for_change(const std::atomic<std::uint32_t>& gate, std::uint32_t old,
                              int spins) {
    for (int i = 0; i < spins; ++i) {
        std::uint32_t now = gate.load(std::memory_order_acquire);
        if (now != old) return now;
        pause_briefly();
    }
    gate.wait(old, std::memory_order_acquire);
    return gate.load(std::memory_order_acquire);
}

}  // namespace

Team::Team(int size) : size_(std::clamp(size, 1, max_threads())) {}

Team::~Team() {
    if (threads_.empty()) return;
    if (process_ != this_process()) {
        // A fork copied the team but not its threads: there is nothing to join, and destroying a
        // joinable std::thread would end the process. The handles are leaked instead.
        new std::vector<std::thread>(std::move(threads_));
        return;
    }
    gate_.fetch_or(kStopping, std::memory_order_acq_rel);
    gate_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Team::start() {
    process_ = this_process();
    try {
        threads_.reserve(size_ - 1);
        for (int worker = 1; worker < size_; ++worker)
            threads_.emplace_back([this, worker] { serve(worker); });
    } catch (const std::system_error&) {
        // The system cannot start more threads: continue with those that were started.
    } catch (const std::bad_alloc&) {
        // Not enough memory for more threads: the same.
    }
}

void Team::dispatch(std::size_t tasks, Call call, void* context) {
    if (threads_.empty()) start();
    call_ = call;
    context_ = context;
    tasks_ = tasks;
    interrupt_ = InterruptScope::current();
    failure_ = nullptr;
    caller_failed_ = false;
    next_.store(0, std::memory_order_relaxed);
    gate_.store((job_number(gate_.load(std::memory_order_relaxed)) + 1) * kNext + kOpen,
                std::memory_order_release);
    gate_.notify_all();
    take_tasks(0);
    wait_for_others();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

// Closes the gate and waits until no thread is inside. An interrupt of the caller also ends the
// tasks of the other threads, so that interrupts are checked while waiting.
void Team::wait_for_others() {
    gate_.fetch_and(~kOpen, std::memory_order_acq_rel);
    auto alone = [&] { return (gate_.load(std::memory_order_acquire) & kInside) == 0; };
    for (int spins = spin_limit(size_); spins > 0; --spins) {
        if (alone()) return;
        pause_briefly();
    }
    std::unique_lock lock(mutex_);
    while (!left_.wait_for(lock, kInterruptInterval, alone)) {
        lock.unlock();
        try {
            check_interrupt();
        } catch (const Interrupted&) {
            fail(0);
        } catch (...) {
            fail(0, true);
        }
        lock.lock();
    }
}

void Team::serve(int worker) {
    int spins = spin_limit(size_);
    std::uint32_t done = 0;  // number of the last job that this thread worked on or found closed
    std::uint32_t gate = gate_.load(std::memory_order_acquire);
    while (true) {
        // Compare the whole gate and not only the job number: numbers wrap around, and a new job
        // with the number `done` would be missed.
        while (job_number(gate) == done && (gate & kStopping) == 0)
            gate = wait_for_change(gate_, gate, spins);
        if ((gate & kStopping) != 0) return;
        done = job_number(gate);
        while ((gate & kOpen) != 0 && job_number(gate) == done) {
            if (!gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acq_rel)) continue;
            {
                InterruptScope::Attached attached(interrupt_);
                take_tasks(worker);
            }
            gate = gate_.fetch_sub(1, std::memory_order_acq_rel) - 1;
            if ((gate & (kInside | kOpen)) == 0) {
                std::scoped_lock lock(
                    mutex_);  // the caller either waits already or will see the change
                left_.notify_one();
            }
            break;
        }
    }
}

void Team::take_tasks(int worker) {
    try {
        for (std::size_t task = next_.fetch_add(1); task < tasks_; task = next_.fetch_add(1)) {
            check_interrupt();
            call_(context_, task, worker);
        }
    } catch (...) {
        fail(worker);
    }
}

// Stores the current exception and cancels the remaining tasks. The exception of the caller has
// priority over those of other threads, because it is the reason why they were interrupted. An
// exception that was pending in Python has priority over all, because Python raises it only once.
void Team::fail(int worker, bool pending) {
    std::scoped_lock lock(mutex_);
    if (!failure_ || pending || (worker == 0 && !caller_failed_))
        failure_ = std::current_exception();
    caller_failed_ = caller_failed_ || worker == 0;
    next_.store(tasks_);
}

}  // namespace bosquet
