#include "parallel/team.hpp"

#include <algorithm>
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

// Handing over to a spinning thread takes about a microsecond, waking a sleeping one about fifty.
// Steps of a fit follow each other closely, so threads spin that long before they sleep; with more
// threads than processors spinning would only keep the others from working.
int spin_limit(int team_size) {
    unsigned processors = std::thread::hardware_concurrency();
    return processors != 0 && static_cast<unsigned>(team_size) > processors ? 0 : 4000;
}

// Beyond the processors threads only take memory; a few more let small machines run what large ones
// do.
int most_threads() {
    unsigned processors = std::thread::hardware_concurrency();
    return static_cast<int>(std::clamp(processors, 64u, 1024u));
}

constexpr std::uint32_t kInside = 0x7fff;  // how many are inside
constexpr std::uint32_t kOpen = 0x8000;
constexpr std::uint32_t kStopping = 0x10000;
constexpr std::uint32_t kNext = 0x20000;  // one more piece of work

std::uint32_t number_of(std::uint32_t gate) { return gate / kNext; }

// Until the gate is no longer as it was.
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

Team::Team(int size) : size_(std::clamp(size, 1, most_threads())) {}

Team::~Team() {
    if (threads_.empty()) return;
    if (process_ != this_process()) {
        // A fork copied the team but not its threads: there is nobody to wait for, and a handle of
        // a thread must not be destroyed before.
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
        // The system has no more threads to give: work with those it gave.
    } catch (const std::bad_alloc&) {
        // Nor memory for them.
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
    gate_.store((number_of(gate_.load(std::memory_order_relaxed)) + 1) * kNext + kOpen,
                std::memory_order_release);
    gate_.notify_all();
    take_tasks(0);
    wait_for_others();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

// Closes the gate and waits until nobody is inside. An interrupt of the caller ends the tasks of
// the others too, so that it is looked for while they work.
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
    std::uint32_t done = 0;  // number of the last work taken part in, or found closed
    std::uint32_t gate = gate_.load(std::memory_order_acquire);
    while (true) {
        // Not a number of its own: numbers begin again, and one that is `done` would be overlooked.
        while (number_of(gate) == done && (gate & kStopping) == 0)
            gate = wait_for_change(gate_, gate, spins);
        if ((gate & kStopping) != 0) return;
        done = number_of(gate);
        while ((gate & kOpen) != 0 && number_of(gate) == done) {
            if (!gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acq_rel)) continue;
            {
                InterruptScope::Carried carried(interrupt_);
                take_tasks(worker);
            }
            gate = gate_.fetch_sub(1, std::memory_order_acq_rel) - 1;
            if ((gate & (kInside | kOpen)) == 0) {
                std::scoped_lock lock(mutex_);  // the caller has looked, or will see the change
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

// Notes the exception at hand and leaves no more tasks. That of the caller comes first: it tells
// why the others were interrupted. One that Python had waiting comes before all: it is raised once.
void Team::fail(int worker, bool pending) {
    std::scoped_lock lock(mutex_);
    if (!failure_ || pending || (worker == 0 && !caller_failed_))
        failure_ = std::current_exception();
    caller_failed_ = caller_failed_ || worker == 0;
    next_.store(tasks_);
}

}  // namespace bosquet
