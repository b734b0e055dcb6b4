// Copies of single columns of a matrix that is stored row by row only.
//
// A split reads one byte per row. In the matrix these bytes are on almost as many cache lines as
// there are rows; in a copy of the column they are adjacent. If there is memory for some copies,
// they are those of the columns that splits read most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/buffer.hpp"
#include "data/binned.hpp"
#include "parallel/team.hpp"

namespace bosquet {

class ColumnCopies {
  public:
    explicit ColumnCopies(const BinnedMatrix& matrix) { set_matrix(matrix); }
    // Forgets all copies.
    void set_matrix(const BinnedMatrix& matrix);

    // A tree begins: what splits read before counts a little less.
    void start_tree();
    // A split is going to read this many rows of a feature; its column may be copied now. Must not
    // be called while other threads read columns.
    void announce(std::uint32_t feature, std::size_t rows, Team& team);
    NarrowColumn column(std::uint32_t feature) const;

  private:
    static constexpr std::uint32_t kNone = 0xffffffff;

    // The copy to overwrite or to create for a feature that is read this often; kNone: none.
    std::uint32_t free_slot(double reads);
    void copy(std::uint32_t feature, std::uint32_t slot, Team& team);

    const BinnedMatrix* matrix_ = nullptr;
    std::vector<Buffer<std::uint8_t>> copies_;
    std::vector<std::uint32_t> feature_of_copy_;
    std::vector<std::uint32_t> copy_of_feature_;  // kNone if it has no copy
    std::vector<double> reads_;                   // rows that splits read, by feature
};

}  // namespace bosquet
