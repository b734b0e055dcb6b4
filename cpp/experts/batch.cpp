// Runs many steps at once and records their history.
#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "experts/mixture.hpp"

namespace bosquet {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void ExpertMixture::record(const ForecastRow& row, std::size_t at,
                           const MixtureHistory& history) const {
    if (history.weights != nullptr)
        std::copy(row.weights.begin(), row.weights.end(), history.weights + at * experts_);
    if (history.predictions != nullptr)
        std::copy(row.prediction.begin(), row.prediction.end(),
                  history.predictions + at * loss_.width());
    if (history.losses != nullptr) history.losses[at] = row.loss;
    if (history.chosen != nullptr) history.chosen[at] = static_cast<std::int64_t>(row.chosen);
    if (history.expert_losses == nullptr) return;
    double* out = history.expert_losses + at * experts_;
    for (std::size_t k = 0; k < experts_; ++k)
        out[k] = is_awake(row.mask(), k) ? row.losses[k] : kNaN;
}

std::size_t ExpertMixture::leader() const {
    return static_cast<std::size_t>(std::max_element(totals_.regret.begin(), totals_.regret.end()) -
                                    totals_.regret.begin());
}

void ExpertMixture::run(const double* forecasts, Awake mask, const double* truths, std::size_t rows,
                        std::size_t block, MixtureHistory history) {
    if (bandit() && block > 1)
        throw InputError("block=" + std::to_string(block) +
                         " is too large; a bandit rule takes one row per step");
    StateFields before = state();
    std::vector<ForecastRow> rows_before = std::move(rows_);
    std::size_t open_before = open_rows_;
    std::size_t per_row = experts_ * loss_.width();
    try {
        rows_.clear();
        rows_.resize(std::min(block, std::max<std::size_t>(rows, 1)));
        for (std::size_t begin = 0; begin < rows; begin += block) {
            std::size_t count = std::min(block, rows - begin);
            check_interrupt(16 * count * experts_);
            for (std::size_t i = 0; i < count; ++i) {
                std::size_t t = begin + i;
                open_row(rows_[i], forecasts + t * per_row, mask ? mask + t * experts_ : nullptr,
                         totals_.rows + i);
            }
            open_rows_ = count;
            close(truths + begin, count);
            double bound = history.bounds != nullptr ? rule_->bound(leader()) : 0.0;
            for (std::size_t i = 0; i < count; ++i) {
                record(rows_[i], begin + i, history);
                if (history.bounds != nullptr) history.bounds[begin + i] = bound;
            }
        }
    } catch (...) {
        restore(before);
        rows_ = std::move(rows_before);
        open_rows_ = open_before;
        throw;
    }
    rows_.clear();  // the rows point into the caller's array
}

}  // namespace bosquet
