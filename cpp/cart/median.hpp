// The medians of the two sides of a split, updated as rows move from the right to the left.
#pragma once

#include <cstdint>
#include <vector>

#include "base/weighted_value.hpp"

namespace bosquet {

// The value with half of the weight below it. If the weight up to a value is exactly half, the
// midpoint between it and the next. Reorders the numbers.
double weighted_median(std::vector<WeightedValue>& numbers);

class MedianSplit {
  public:
    // Starts with all rows on the right.
    void reset(const std::vector<WeightedValue>& numbers);
    void clear_left();
    void move_left(std::uint32_t row);
    // The weighted sum of the distances of all rows to the median of their side.
    double distances() const;

  private:
    struct Sum {
        double weight = 0, product = 0;
        Sum operator-(const Sum& other) const {
            return {weight - other.weight, product - other.product};
        }
        Sum operator+(const Sum& other) const {
            return {weight + other.weight, product + other.product};
        }
    };
    double distances(bool left) const;

    // Rows by the rank of their value, with sums over ranks in a Fenwick tree.
    std::vector<std::uint32_t> rank_of_row_;
    std::vector<WeightedValue> by_rank_;
    std::vector<Sum> all_, left_;
    Sum all_total_, left_total_;
};

}  // namespace bosquet
