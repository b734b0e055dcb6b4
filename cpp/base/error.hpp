// The two ways the core refuses: what a caller got wrong, and a model file that is not one.
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
