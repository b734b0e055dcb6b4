// The rows of a fit with their targets, weights and raw predictions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/buffer.hpp"
#include "data/binned.hpp"
#include "losses/loss.hpp"

namespace bosquet {

// Rows with their targets and the current raw predictions. Targets and weights (empty: all 1)
// belong to the caller and must outlive the sample.
class Sample {
  public:
    Sample(std::shared_ptr<const BinnedMatrix> matrix, std::span<const double> target,
           std::span<const double> weight, std::uint32_t outputs);

    std::size_t rows() const { return matrix_->rows(); }
    const BinnedMatrix& matrix() const { return *matrix_; }
    LossData data() const;
    double* raw(std::uint32_t output) { return raw_.data() + output * rows(); }
    const double* raw(std::uint32_t output) const { return raw_.data() + output * rows(); }
    std::span<const double> weight() const { return weight_; }
    std::span<const double> target() const { return target_; }
    double total_weight() const;

  private:
    std::shared_ptr<const BinnedMatrix> matrix_;
    std::span<const double> target_;
    std::span<const double> weight_;
    Buffer<double> raw_;
};

}  // namespace bosquet
