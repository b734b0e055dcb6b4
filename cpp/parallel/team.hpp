// The one place that starts threads.
//
// A Team lives as long as one fit or one large prediction and joins its threads at the end, so
// nothing is left running for a fork to break and the library holds no pool. Work is shared out as
// numbered tasks; whoever is free takes the next one, so results must not depend on who did what.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace bosquet {

class Team {
  public:
    explicit Team(int size);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int size() const { return size_; }

    // Calls work(task, worker) for each task in [0, tasks), worker in [0, size()). Returns when all
    // are done; rethrows the first exception. Not to be called from inside a task.
    template <class Work>
    void run(std::size_t tasks, Work&& work) {
        if (size_ == 1 || tasks <= 1) {
            for (std::size_t task = 0; task < tasks; ++task) work(task, 0);
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

    int size_;
    std::vector<std::thread> threads_;

    Call call_ = nullptr;
    void* context_ = nullptr;
    std::size_t tasks_ = 0;
    std::exception_ptr failure_;
    std::mutex failure_mutex_;

    // The gate to the work at hand: its number, whether it is open, and how many are inside.
    // Whoever called waits only for those inside, so a thread that the system does not schedule
    // delays nobody: its share is done by the others and it finds the gate closed.
    alignas(64) std::atomic<std::uint32_t> gate_{0};
    alignas(64) std::atomic<std::size_t> next_{0};
    std::atomic<bool> stopping_{false};
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
