// Sends binned rows down a tree that was grown on other rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/isa.hpp"
#include "data/binned.hpp"
#include "grow/grower.hpp"

namespace bosquet {

// A split as an operation on lines of bytes, one byte a row: where the bin less `shift` is at most
// `bound`, or where `goes_left` says so, take the left child's line, elsewhere the right one's.
// Lines hold numbers of leaves; worked off from the bottom up, the root's line says for each row
// which leaf it reaches.
struct LineSplit {
    const std::uint8_t* column;  // null for a wide feature
    const std::uint16_t* wide_column;
    const std::uint8_t* goes_left;  // by bin; null for a quantitative feature
    std::uint32_t line;
    std::uint32_t left;  // the right child's line is the next one
    std::uint8_t shift;
    std::uint8_t bound;
};

constexpr std::size_t kLineRows = 32;

struct RouteKernels {
    // `lines` has 32 bytes for each node; those of leaves are filled in. Rows [begin, end) are
    // routed 32 at a time; columns may be read up to 31 rows beyond.
    void (*route)(const LineSplit* splits, std::size_t count, std::uint8_t* lines,
                  std::size_t begin, std::size_t end, std::uint16_t* leaf_of_row);
};
BOSQUET_DECLARE_KERNELS(RouteKernels, route_kernels)

class Router {
  public:
    // `leaf_of_node` numbers the leaves.
    Router(const GrownTree& grown, const BinnedMatrix& matrix,
           std::span<const std::uint16_t> leaf_of_node, Isa isa);

    // leaf_of_row[row] = the leaf that row reaches, for these rows.
    void route(Range rows, std::uint16_t* leaf_of_row) const;

  private:
    void route_one_by_one(Range rows, std::uint16_t* leaf_of_row) const;

    const GrownTree* grown_;
    const BinnedMatrix* matrix_;
    std::span<const std::uint16_t> leaf_of_node_;
    const RouteKernels* kernels_;
    std::vector<LineSplit> splits_;                  // from the bottom up
    std::vector<std::vector<std::uint8_t>> tables_;  // goes_left of categorical splits
    std::vector<std::uint8_t> lines_;                // with the leaves' lines filled in
};

}  // namespace bosquet
