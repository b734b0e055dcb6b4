// The only code that starts threads.
//
// A Team exists for one fit or one large prediction and joins its threads at the end. The library
// keeps no thread pool, so that no thread is running when the process forks. Work is divided into
// numbered tasks, and every free thread takes the next one. Results must not depend on which thread
// did which task.
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
    // At least one worker, at most 64 or the number of processors, whichever is larger.
    explicit Team(int size);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int size() const { return size_; }

    // Calls work(task, worker) for each task in [0, tasks), with worker in [0, size()). Returns
    // when all tasks are done. Rethrows the exception of the calling thread, otherwise the first
    // one. Must not be called from inside a task. Checks for an interrupt before each task; tasks
    // that can take long have to check themselves.
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
    long process_ = 0;  // the process that started the threads; a forked child has none of them

    Call call_ = nullptr;
    void* context_ = nullptr;
    std::size_t tasks_ = 0;
    InterruptScope* interrupt_ = nullptr;  // the scope of the caller
    std::exception_ptr failure_;
    bool caller_failed_ = false;
    std::mutex mutex_;              // protects failure_ and the wait for left_
    std::condition_variable left_;  // signalled when the last thread has left the gate

    // The gate to the current job: the number of the job, whether the gate is open, the number of
    // threads inside, and whether the team ends. The caller waits only for threads inside. A thread
    // that the system does not schedule therefore delays nobody: the others do its tasks, and it
    // finds the gate closed.
    alignas(64) std::atomic<std::uint32_t> gate_{0};
    alignas(64) std::atomic<std::size_t> next_{0};
};

// The range of part number `part` if `count` items are divided into `parts`.
struct Range {
    std::size_t begin, end;
    std::size_t size() const { return end - begin; }
};
inline Range even_range(std::size_t count, std::size_t parts, std::size_t part) {
    return {count * part / parts, count * (part + 1) / parts};
}

// Blocks of fixed size: their bounds depend only on the number of rows, so that sums over blocks
// have the same bits for any number of threads.
constexpr std::size_t kBlockRows = 8192;
inline std::size_t block_count(std::size_t rows) { return (rows + kBlockRows - 1) / kBlockRows; }
inline Range block_range(std::size_t rows, std::size_t index) {
    std::size_t begin = index * kBlockRows;
    return {begin, begin + kBlockRows < rows ? begin + kBlockRows : rows};
}

}  // namespace bosquet
