// Waits for another thread with a time limit.
#pragma once

#include <chrono>
#include <thread>

#include "base/interrupt.hpp"

namespace bosquet {

// Returns whether the condition became true in time. An interrupt ends the wait.
template <class Condition>
bool wait_at_most(std::chrono::milliseconds limit, Condition holds) {
    auto end = std::chrono::steady_clock::now() + limit;
    while (!holds()) {
        if (std::chrono::steady_clock::now() >= end) return false;
        check_interrupt();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return true;
}

}  // namespace bosquet
