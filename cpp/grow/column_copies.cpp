#include "grow/column_copies.hpp"

#include <algorithm>

#include "grow/chunks.hpp"

namespace bosquet {

namespace {

// A copy reads all rows of the matrix once. It is made for a feature of which splits have read as
// many rows in the last ten trees or so.
constexpr double kKeptPerTree = 0.9;
// A copy replaces another one if its feature is read this many times as often.
constexpr double kOftener = 1.5;

}  // namespace

void ColumnCopies::set_matrix(const BinnedMatrix& matrix) {
    matrix_ = &matrix;
    copies_.clear();
    feature_of_copy_.clear();
    copy_of_feature_.assign(matrix.layout().features.size(), kNone);
    reads_.assign(matrix.layout().features.size(), 0);
}

void ColumnCopies::start_tree() {
    for (double& reads : reads_) reads *= kKeptPerTree;
}

void ColumnCopies::announce(std::uint32_t feature, std::size_t rows, Team& team) {
    const Layout& layout = matrix_->layout();
    if (layout.has_columns || matrix_->max_column_copies() == 0 || layout.features[feature].wide)
        return;
    double& reads = reads_[feature];
    reads += static_cast<double>(rows);
    if (copy_of_feature_[feature] != kNone || reads < static_cast<double>(matrix_->rows())) return;
    std::uint32_t slot = free_slot(reads);
    if (slot != kNone) copy(feature, slot, team);
}

std::uint32_t ColumnCopies::free_slot(double reads) {
    if (copies_.size() < matrix_->max_column_copies()) {
        copies_.emplace_back(matrix_->rows());
        feature_of_copy_.push_back(kNone);
        return static_cast<std::uint32_t>(copies_.size() - 1);
    }
    auto least =
        std::min_element(feature_of_copy_.begin(), feature_of_copy_.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return reads_[a] < reads_[b]; });
    if (reads < kOftener * reads_[*least]) return kNone;
    return static_cast<std::uint32_t>(least - feature_of_copy_.begin());
}

void ColumnCopies::copy(std::uint32_t feature, std::uint32_t slot, Team& team) {
    if (feature_of_copy_[slot] != kNone) copy_of_feature_[feature_of_copy_[slot]] = kNone;
    NarrowColumn from = matrix_->column(matrix_->layout().features[feature]);
    std::uint8_t* to = copies_[slot].data();
    team.run(chunk_count(matrix_->rows()), [&](std::size_t chunk, int) {
        std::size_t end = std::min(matrix_->rows(), (chunk + 1) * kChunkRows);
        for (std::size_t row = chunk * kChunkRows; row < end; ++row) to[row] = from[row];
    });
    feature_of_copy_[slot] = feature;
    copy_of_feature_[feature] = slot;
}

NarrowColumn ColumnCopies::column(std::uint32_t feature) const {
    std::uint32_t slot = copy_of_feature_[feature];
    if (slot != kNone) return {copies_[slot].data(), 1};
    return matrix_->column(matrix_->layout().features[feature]);
}

}  // namespace bosquet
