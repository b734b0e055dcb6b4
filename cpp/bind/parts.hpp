// A part of the rows of a fit, whose sums Python combines with those of the other parts.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "boosting/fit_data.hpp"

// A part with the reducer that it refers to.
struct OwnedPart {
    std::shared_ptr<bosquet::Reducer> reducer;
    bosquet::Part part;
    std::size_t rows = 0;  // rows in this part
};
