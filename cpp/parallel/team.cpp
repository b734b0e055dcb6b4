#include "parallel/team.hpp"

#include <algorithm>
#include <system_error>

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

constexpr std::uint32_t kInside = 0x7fff;  // how many are inside
constexpr std::uint32_t kOpen = 0x8000;
constexpr std::uint32_t kNext = 0x10000;  // one more piece of work

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

Team::Team(int size) : size_(std::clamp(size, 1, static_cast<int>(kInside))) {}

Team::~Team() {
    if (threads_.empty()) return;
    stopping_.store(true, std::memory_order_release);
    gate_.fetch_add(kNext, std::memory_order_acq_rel);
    gate_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Team::start() {
    threads_.reserve(size_ - 1);
    try {
        for (int worker = 1; worker < size_; ++worker)
            threads_.emplace_back([this, worker] { serve(worker); });
    } catch (const std::system_error&) {
        // The system has no more threads to give: work with those it gave.
    }
}

void Team::dispatch(std::size_t tasks, Call call, void* context) {
    if (threads_.empty()) start();
    call_ = call;
    context_ = context;
    tasks_ = tasks;
    failure_ = nullptr;
    next_.store(0, std::memory_order_relaxed);
    gate_.store((number_of(gate_.load(std::memory_order_relaxed)) + 1) * kNext + kOpen,
                std::memory_order_release);
    gate_.notify_all();
    take_tasks(0);
    int spins = spin_limit(size_);
    std::uint32_t gate = gate_.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
    while ((gate & kInside) != 0) gate = wait_for_change(gate_, gate, spins);
    if (failure_) std::rethrow_exception(failure_);
}

void Team::serve(int worker) {
    int spins = spin_limit(size_);
    std::uint32_t done = 0;  // number of the last work taken part in, or found closed
    std::uint32_t gate = gate_.load(std::memory_order_acquire);
    while (true) {
        while (number_of(gate) == done) gate = wait_for_change(gate_, gate, spins);
        if (stopping_.load(std::memory_order_acquire)) return;
        done = number_of(gate);
        while ((gate & kOpen) != 0 && number_of(gate) == done) {
            if (!gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acq_rel)) continue;
            take_tasks(worker);
            gate = gate_.fetch_sub(1, std::memory_order_acq_rel) - 1;
            if ((gate & (kInside | kOpen)) == 0) gate_.notify_all();
            break;
        }
    }
}

void Team::take_tasks(int worker) {
    try {
        for (std::size_t task = next_.fetch_add(1); task < tasks_; task = next_.fetch_add(1))
            call_(context_, task, worker);
    } catch (...) {
        std::scoped_lock lock(failure_mutex_);
        if (!failure_) failure_ = std::current_exception();
        next_.store(tasks_);
    }
}

}  // namespace bosquet
