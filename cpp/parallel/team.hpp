// The one place that starts threads.
//
// A Team lives as long as one fit or one large prediction and joins its threads at the end, so
// nothing is left running for a fork to break and the library holds no pool. Work is shared out as
// numbered tasks; whoever is free takes the next one, so results must not depend on who did what.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/interrupt.hpp"

namespace bosquet {

class Team {
  public:
    // At least one worker; at most 64, or as many as there are processors if those are more.
    explicit Team(int size);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int size() const { return size_; }

    // Calls work(task, worker) for each task in [0, tasks), worker in [0, size()). Returns when all
    // are done; rethrows the caller's exception or else the first. Not to be called from inside a
    // task. Looks for an interrupt before each task; tasks that can take long look themselves.
    template <class Work>
    void run(std::size_t tasks, Work&& work) {
        if (size_ == 1 || tasks <= 1) {
            for (std::size_t task = 0; task < tasks; ++task) {
                check_interrupt();
                work(task, 0);
            }
            return;
        }
        auto call = [](void* context, std::size_t task, int worker) {
            (*static_cast<std::remove_reference_t<Work>*>(context))(task, worker);
        };
        dispatch(tasks, call, &work);
    }

  private:
    using Call = void (*)(void*, std::size_t, int);

    void dispatch(std::size_t tasks, Call call, void* context);
    void start();
    void serve(int worker);
    void take_tasks(int worker);
    void wait_for_others();
    void fail(int worker, bool pending = false);

    int size_;
    std::vector<std::thread> threads_;
    long process_ = 0;  // that started the threads; a forked child has none of them

    Call call_ = nullptr;
    void* context_ = nullptr;
    std::size_t tasks_ = 0;
    InterruptScope* interrupt_ = nullptr;  // the caller's
    std::exception_ptr failure_;
    bool caller_failed_ = false;
    std::mutex mutex_;              // of the failure, and of whoever waits for `left_`
    std::condition_variable left_;  // the last of the others has left the gate

    // The gate to the work at hand: its number, whether it is open, how many are inside, and
    // whether the team ends. Whoever called waits only for those inside, so a thread that the
    // system does not schedule delays nobody: its share is done by the others and it finds the gate
    // closed.
    alignas(64) std::atomic<std::uint32_t> gate_{0};
    alignas(64) std::atomic<std::size_t> next_{0};
};

// [begin, end) of part `part` when `count` items are shared out over `parts`.
struct Range {
    std::size_t begin, end;
    std::size_t size() const { return end - begin; }
};
inline Range part_of(std::size_t count, std::size_t parts, std::size_t part) {
    return {count * part / parts, count * (part + 1) / parts};
}

// Fixed blocks: their bounds depend on the count alone, so sums taken block by block have the same
// bits on any team.
constexpr std::size_t kBlockRows = 8192;
inline std::size_t block_count(std::size_t rows) { return (rows + kBlockRows - 1) / kBlockRows; }
inline Range block(std::size_t rows, std::size_t index) {
    std::size_t begin = index * kBlockRows;
    return {begin, begin + kBlockRows < rows ? begin + kBlockRows : rows};
}

}  // namespace bosquet
