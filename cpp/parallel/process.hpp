// Which process this is: a fork copies memory, but none of the threads that were at work on it.
#pragma once

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

namespace bosquet {

inline long this_process() {
#if defined(__unix__) || defined(__APPLE__)
    return getpid();
#else
    return 1;  // there is no fork
#endif
}

}  // namespace bosquet
