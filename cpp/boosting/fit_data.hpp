// The rows of a fit with their targets, weights and raw predictions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "data/binned.hpp"
#include "losses/loss.hpp"

namespace bosquet {

// The training set or the validation set: rows with their targets and the current raw predictions.
// Targets and weights (empty: all 1) belong to the caller and must outlive this object.
class FitData {
  public:
    FitData(std::shared_ptr<const BinnedMatrix> matrix, std::span<const double> target,
            std::span<const double> weight, std::uint32_t outputs);

    std::size_t rows() const { return versions_[0]->rows(); }
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
};

}  // namespace bosquet
