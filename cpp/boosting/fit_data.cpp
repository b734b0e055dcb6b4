#include "boosting/fit_data.hpp"

#include <algorithm>
#include <utility>

namespace bosquet {

std::vector<Range> Part::rows_with_numbers(std::uint64_t first, std::uint64_t last,
                                           std::size_t rows) const {
    std::vector<Range> ranges;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        std::size_t end = i + 1 < runs.size() ? runs[i + 1].begin : rows;
        std::uint64_t from = runs[i].first_number, to = from + (end - runs[i].begin);
        if (std::max(from, first) < std::min(to, last))
            ranges.push_back({runs[i].begin + (std::max(from, first) - from),
                              runs[i].begin + (std::min(to, last) - from)});
    }
    return ranges;
}

FitData::FitData(std::shared_ptr<const BinnedMatrix> matrix, std::span<const double> target,
                 std::span<const double> weight, std::uint32_t outputs)
    : versions_{std::move(matrix)},
      target_(target),
      weight_(weight),
      raw_(versions_[0]->rows() * outputs) {
    part_.all_rows = rows();
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
            .raw = raw_.data(),
            .reducer = part_.reducer,
            .all_rows = part_.all_rows};
}

}  // namespace bosquet
