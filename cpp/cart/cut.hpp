// A split of a node, as it is found.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace bosquet {

struct Cut {
    double merit = -std::numeric_limits<double>::infinity();  // what splits of a node compare by
    std::uint32_t feature = 0;
    std::uint32_t last = 0;  // quantitative: codes from 1 to this one go left
    double threshold = 0;    // quantitative: the same in the column's own numbers
    bool missing_left = false;
    bool saw_missing = false;  // else missing values go with the heavier child
    bool nominal = false;
    std::vector<std::uint32_t> left_codes;  // nominal: ascending, 0 left out

    bool goes_left(std::uint32_t code) const {
        if (code == 0) return missing_left;
        if (!nominal) return code <= last;
        return std::binary_search(left_codes.begin(), left_codes.end(), code);
    }
    bool found() const { return merit > -std::numeric_limits<double>::infinity(); }
};

// A split on another column that sends nearly the same rows left; it decides where the value of the
// split proper is missing.
struct Surrogate {
    Cut cut;
    bool reversed = false;  // quantitative: codes up to the last go right
    double agreement = 0;   // share of the weight that both send the same way
};

}  // namespace bosquet
