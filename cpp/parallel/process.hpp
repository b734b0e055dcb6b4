// Identifies the process: a fork copies the memory but not the threads that work on it.
#pragma once

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

namespace bosquet {

inline long this_process() {
#if defined(__unix__) || defined(__APPLE__)
    return getpid();
#else
    return 1;  // no fork on this system
#endif
}

}  // namespace bosquet
