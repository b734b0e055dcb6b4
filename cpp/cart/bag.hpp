// The rows that a tree is grown on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bosquet {

// Rows with how much each counts; all weights are above 0.
struct Bag {
    std::vector<std::uint32_t> rows;
    std::vector<double> weights;
};

// How often each of `rows` rows is drawn, at least one. `draws` of them are drawn with replacement,
// or without; then all are drawn if they are not more than that.
std::vector<std::uint32_t> times_drawn(std::size_t rows, std::size_t draws, bool replace,
                                       std::uint64_t key);

// `draws` rows drawn with replacement out of `rows` (or without, if they are fewer and `replace` is
// false), each counting by its weight (empty: 1) times how often it was drawn.
Bag draw_bag(std::size_t rows, std::size_t draws, bool replace, std::span<const double> weights,
             std::uint64_t key);

}  // namespace bosquet
