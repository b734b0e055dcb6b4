// The rows of a fit with their targets, weights and raw predictions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "data/binned.hpp"
#include "losses/loss.hpp"
#include "parallel/reducer.hpp"

namespace bosquet {

// Where the rows of a part are among the rows of all parts, in the order of all rows: runs of
// consecutive rows.
struct RowRun {
    std::size_t begin = 0;           // row in this part
    std::uint64_t first_number = 0;  // its number among all rows
};

// The rows of this process as a part of all rows of a fit; by default they are all rows.
struct Part {
    Reducer* reducer = &single_part();
    std::uint64_t all_rows = 0;
    std::vector<RowRun> runs = {RowRun{}};  // ascending, the first begins at row 0

    std::uint64_t number_of(std::size_t row) const {
        if (runs.size() == 1) return row + runs[0].first_number;
        auto after = run_after(row);
        return row - after[-1].begin + after[-1].first_number;
    }
    // The first rows of the range, those with consecutive numbers.
    Range first_consecutive(Range range) const {
        auto after = run_after(range.begin);
        return {range.begin, after == runs.end() ? range.end : std::min(range.end, after->begin)};
    }
    // The rows of this part, `rows` in all, whose numbers are in [first, last).
    std::vector<Range> rows_with_numbers(std::uint64_t first, std::uint64_t last,
                                         std::size_t rows) const;

  private:
    // The run that follows the one of this row.
    std::vector<RowRun>::const_iterator run_after(std::size_t row) const {
        return std::upper_bound(runs.begin(), runs.end(), row,
                                [](std::size_t r, const RowRun& run) { return r < run.begin; });
    }
};

// The training set or the validation set: rows with their targets and the current raw predictions.
// Targets and weights (empty: all 1) belong to the caller and must outlive this object.
class FitData {
  public:
    FitData(std::shared_ptr<const BinnedMatrix> matrix, std::span<const double> target,
            std::span<const double> weight, std::uint32_t outputs);

    std::size_t rows() const { return versions_[0]->rows(); }
    // Declares the rows to be a part of more rows.
    void set_part(Part part) { part_ = std::move(part); }
    const Part& part() const { return part_; }
    std::uint64_t all_rows() const { return part_.all_rows; }
    // Adds another version of the rows: the same layout, other values in some columns.
    void add_version(std::shared_ptr<const BinnedMatrix> matrix);
    std::size_t versions() const { return versions_.size(); }
    const BinnedMatrix& matrix(std::size_t version = 0) const { return *versions_[version]; }
    LossData loss_data() const;
    double* raw(std::uint32_t output) { return raw_.data() + output * rows(); }
    const double* raw(std::uint32_t output) const { return raw_.data() + output * rows(); }
    std::span<const double> weight() const { return weight_; }
    std::span<const double> target() const { return target_; }

  private:
    std::vector<std::shared_ptr<const BinnedMatrix>> versions_;
    std::span<const double> target_;
    std::span<const double> weight_;
    Buffer<double> raw_;
    Part part_;
};

}  // namespace bosquet
