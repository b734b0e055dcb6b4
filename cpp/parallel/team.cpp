#include "parallel/team.hpp"

#include <algorithm>

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
// threads than processors spinning only keeps the others from working.
int spin_limit(int team_size) {
    unsigned processors = std::thread::hardware_concurrency();
    return processors != 0 && static_cast<unsigned>(team_size) > processors ? 0 : 4000;
}

template <class T>
void wait_while(const std::atomic<T>& value, T old, int spins) {
    for (int i = 0; i < spins; ++i) {
        if (value.load(std::memory_order_acquire) != old) return;
        pause_briefly();
    }
    value.wait(old, std::memory_order_acquire);
}

}  // namespace

Team::Team(int size) : size_(std::max(1, size)) {}

Team::~Team() {
    if (threads_.empty()) return;
    stopping_.store(true, std::memory_order_release);
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Team::start() {
    threads_.reserve(size_ - 1);
    try {
        for (int worker = 1; worker < size_; ++worker)
            threads_.emplace_back([this, worker] { serve(worker); });
    } catch (const std::system_error&) {
        // The system has no more threads to give: work with those it gave.
        size_ = static_cast<int>(threads_.size()) + 1;
    }
}

void Team::dispatch(std::size_t tasks, Call call, void* context) {
    if (threads_.empty()) start();
    call_ = call;
    context_ = context;
    tasks_ = tasks;
    failure_ = nullptr;
    next_.store(0, std::memory_order_relaxed);
    busy_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
    take_tasks(0);
    int spins = spin_limit(size_);
    for (int left = busy_.load(std::memory_order_acquire); left != 0;
         left = busy_.load(std::memory_order_acquire))
        wait_while(busy_, left, spins);
    if (failure_) std::rethrow_exception(failure_);
}

void Team::serve(int worker) {
    int spins = spin_limit(size_);
    std::uint32_t seen = 0;
    while (true) {
        wait_while(generation_, seen, spins);
        seen = generation_.load(std::memory_order_acquire);
        if (stopping_.load(std::memory_order_acquire)) return;
        take_tasks(worker);
        if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
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
