// Finds the leaves of binned rows that were not used to grow the tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/isa.hpp"
#include "data/binned.hpp"
#include "grow/grower.hpp"

namespace bosquet {

// A split as an operation on lines of bytes with one byte per row: if bin - shift <= bound, or if
// goes_left[bin] is set, take the byte from the line of the left child, otherwise from that of the
// right child. Lines hold leaf numbers. Evaluated bottom-up, the line of the root holds for each
// row the number of its leaf.
struct LineSplit {
    NarrowColumn column;               // of a narrow feature
    const std::uint16_t* wide_column;  // nullptr for a narrow feature
    const std::uint8_t* goes_left;     // by bin; nullptr for a quantitative feature
    std::uint32_t line;
    std::uint32_t left;  // the line of the right child is the next one
    std::uint8_t shift;
    std::uint8_t bound;
};

constexpr std::size_t kRouteRows = 32;

struct RouteKernels {
    // `lines` has 32 bytes per node; those of leaves are filled in. Rows [begin, end) are processed
    // 32 at a time; columns may be read up to 31 rows past the end.
    void (*route)(const LineSplit* splits, std::size_t count, std::uint8_t* lines,
                  std::size_t begin, std::size_t end, std::uint16_t* leaf_of_row);
};
BOSQUET_DECLARE_KERNELS(RouteKernels, route_kernels)

class Router {
  public:
    // `leaf_of_node` holds the leaf number of each node.
    Router(const GrownTree& grown, const BinnedMatrix& matrix,
           std::span<const std::uint16_t> leaf_of_node, Isa isa);

    // Sets leaf_of_row[row] to the number of the leaf that the row reaches, for these rows.
    void route(Range rows, std::uint16_t* leaf_of_row) const;

  private:
    void route_one_by_one(Range rows, std::uint16_t* leaf_of_row) const;

    const GrownTree* grown_;
    const BinnedMatrix* matrix_;
    std::span<const std::uint16_t> leaf_of_node_;
    const RouteKernels* kernels_;
    std::vector<LineSplit> splits_;                  // bottom-up
    std::vector<std::vector<std::uint8_t>> tables_;  // goes_left of categorical splits
    std::vector<std::uint8_t> lines_;                // with the lines of leaves filled in
};

}  // namespace bosquet
