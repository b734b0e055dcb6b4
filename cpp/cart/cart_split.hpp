// A split of a node, as returned by the search.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace bosquet {

struct CartSplit {
    // Splits of a node are compared by this: the proxy gain (cart/sums.hpp) during the search, then
    // for competitors the decrease of the impurity, for surrogates the agreement.
    double gain = -std::numeric_limits<double>::infinity();
    std::uint32_t feature = 0;
    std::uint32_t last = 0;  // quantitative: codes from 1 to this one go left
    double threshold = 0;    // quantitative: the same as a value of the column
    bool missing_left = false;
    bool saw_missing = false;  // if false, missing values go to the heavier child
    bool categorical = false;
    std::vector<std::uint32_t> left_codes;  // categorical: ascending, without 0

    bool goes_left(std::uint32_t code) const {
        if (code == 0) return missing_left;
        if (!categorical) return code <= last;
        return std::binary_search(left_codes.begin(), left_codes.end(), code);
    }
    bool found() const { return gain > -std::numeric_limits<double>::infinity(); }
};

// A split on another column that sends nearly the same rows left. It is used for rows whose value
// of the primary split is missing.
struct Surrogate {
    CartSplit split;
    bool reversed = false;  // quantitative: codes up to the last go right
    double agreement = 0;   // share of the weight that both splits send the same way
};

}  // namespace bosquet
