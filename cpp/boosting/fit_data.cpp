#include "boosting/fit_data.hpp"

#include <algorithm>
#include <utility>

namespace bosquet {

FitData::FitData(std::shared_ptr<const BinnedMatrix> matrix, std::span<const double> target,
                 std::span<const double> weight, std::uint32_t outputs)
    : versions_{std::move(matrix)},
      target_(target),
      weight_(weight),
      raw_(versions_[0]->rows() * outputs) {
    std::fill(raw_.begin(), raw_.end(), 0.0);
}

void FitData::add_version(std::shared_ptr<const BinnedMatrix> matrix) {
    versions_.push_back(std::move(matrix));
}

LossData FitData::loss_data() const {
    return {.rows = rows(),
            .stride = rows(),
            .target = target_.data(),
            .weight = weight_.empty() ? nullptr : weight_.data(),
            .raw = raw_.data()};
}

}  // namespace bosquet
