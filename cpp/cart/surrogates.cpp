#include "cart/surrogates.hpp"

#include <algorithm>

#include "base/interrupt.hpp"

namespace bosquet {

std::vector<Surrogate> SurrogateSearch::find(const CartSplit& primary, const std::uint32_t* rows,
                                             const std::vector<double>& weights, std::size_t count,
                                             const std::vector<std::uint8_t>& sides) {
    // The sum of an item is its weight if it goes left, so that an entry holds the total weight and
    // the left weight.
    known_rows_.clear();
    known_items_.clear();
    double left = 0, all = 0;
    const CodedColumn& primary_column = table_->columns[primary.feature];
    for (std::size_t i = 0; i < count; ++i) {
        if (primary_column.code(rows[i]) == 0) continue;
        known_rows_.push_back(rows[i]);
        known_items_.push_back({weights[i], sides[i] ? weights[i] : 0.0});
        all += weights[i];
        left += known_items_.back().sum;
    }
    double baseline = std::max(left, all - left) / all;
    std::vector<Surrogate> found;
    for (std::uint32_t f = 0; f < table_->columns.size(); ++f) {
        if (f == primary.feature) continue;
        check_interrupt(8 * count);
        Surrogate surrogate =
            find_best_on(f, {known_rows_.data(), known_items_.data(), known_rows_.size()});
        surrogate.agreement /= all;
        if (surrogate.split.found() && surrogate.agreement > baseline)
            found.push_back(std::move(surrogate));
    }
    std::stable_sort(found.begin(), found.end(), [](const Surrogate& a, const Surrogate& b) {
        return a.agreement > b.agreement;
    });
    if (found.size() > max_surrogates_) found.resize(max_surrogates_);
    return found;
}

// Finds the split that sends the most weight the same way. Rows whose own value is missing do not
// count as agreeing.
Surrogate SurrogateSearch::find_best_on(std::uint32_t feature,
                                        const NodeRows<Pairs::Item>& rows_with_value) {
    const CodedColumn& column = table_->columns[feature];
    code_sums_.collect(column, rows_with_value, false);
    Surrogate best;
    std::size_t first_present = code_sums_.has_missing() ? 1 : 0;
    if (code_sums_.size() - first_present < 2) return best;
    best.split.feature = feature;
    best.split.categorical = column.categorical;
    double all = 0, all_left = 0;
    for (std::size_t i = first_present; i < code_sums_.size(); ++i) {
        all += code_sums_.sums_of_entry(i)[0];
        all_left += code_sums_.sums_of_entry(i)[1];
    }
    if (column.categorical) {
        // Each category goes the way of most of its weight.
        for (std::size_t i = first_present; i < code_sums_.size(); ++i) {
            double left = code_sums_.sums_of_entry(i)[1],
                   right = code_sums_.sums_of_entry(i)[0] - left;
            if (left > right) best.split.left_codes.push_back(code_sums_.code(i));
            best.agreement += std::max(left, right);
        }
        bool is_split = !best.split.left_codes.empty() &&
                        best.split.left_codes.size() < code_sums_.size() - first_present;
        if (is_split) best.split.gain = best.agreement;
        return best;
    }
    double w = 0, left = 0;
    for (std::size_t i = first_present; i + 1 < code_sums_.size(); ++i) {
        w += code_sums_.sums_of_entry(i)[0];
        left += code_sums_.sums_of_entry(i)[1];
        // Left below the threshold and right above it, or the other way round.
        double same = left + (all - w) - (all_left - left);
        for (bool reversed : {false, true}) {
            double agreement = reversed ? all - same : same;
            if (!(agreement > best.agreement)) continue;
            best.agreement = best.split.gain = agreement;
            best.reversed = reversed;
            best.split.last = code_sums_.code(i);
            best.split.threshold = column.threshold(code_sums_.code(i), code_sums_.code(i + 1));
        }
    }
    return best;
}

}  // namespace bosquet
