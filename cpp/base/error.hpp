// The two exceptions of the core: an invalid argument, and an invalid model file. In Python both
// are subclasses of ValueError.
#pragma once

#include <stdexcept>

namespace bosquet {

struct InputError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

struct ModelFileError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace bosquet
