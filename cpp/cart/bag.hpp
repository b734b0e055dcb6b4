// The bag of a tree: the rows on which it is grown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bosquet {

// Rows with their weights; all weights are positive.
struct Bag {
    std::vector<std::uint32_t> rows;
    std::vector<double> weights;
};

// How often each of `rows` rows (at least one) is drawn. `draws` rows are drawn with or without
// replacement; without replacement, all rows are drawn once if draws >= rows.
std::vector<std::uint32_t> times_drawn(std::size_t rows, std::size_t draws, bool replace,
                                       std::uint64_t key);

// Draws a bag as times_drawn does. The weight of a row is its weight in `weights` (empty: 1) times
// how often it was drawn; rows of weight 0 are left out.
Bag draw_bag(std::size_t rows, std::size_t draws, bool replace, std::span<const double> weights,
             std::uint64_t key);

}  // namespace bosquet
