#include "cart/median.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace bosquet {

double weighted_median(std::vector<WeightedValue>& numbers) {
    std::sort(numbers.begin(), numbers.end(), [](const auto& a, const auto& b) {
        return a.value != b.value ? a.value < b.value : a.weight < b.weight;
    });
    double total = 0;
    for (const WeightedValue& number : numbers) total += number.weight;
    double below = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        below += numbers[i].weight;
        if (below > total / 2) return numbers[i].value;
        if (below == total / 2 && i + 1 < numbers.size())
            return numbers[i].value / 2 + numbers[i + 1].value / 2;
    }
    return numbers.back().value;
}

void MedianSplit::reset(const std::vector<WeightedValue>& numbers) {
    std::size_t n = numbers.size();
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return numbers[a].value < numbers[b].value;
    });
    rank_of_row_.resize(n);
    by_rank_.resize(n);
    all_.assign(n + 1, {});
    all_total_ = {};
    for (std::size_t rank = 0; rank < n; ++rank) {
        rank_of_row_[order[rank]] = static_cast<std::uint32_t>(rank);
        by_rank_[rank] = numbers[order[rank]];
        Sum term{by_rank_[rank].weight, by_rank_[rank].weight * by_rank_[rank].value};
        all_total_ = all_total_ + term;
        for (std::size_t at = rank + 1; at <= n; at += at & -at) all_[at] = all_[at] + term;
    }
    clear_left();
}

void MedianSplit::clear_left() {
    left_.assign(all_.size(), {});
    left_total_ = {};
}

void MedianSplit::move_left(std::uint32_t row) {
    std::size_t rank = rank_of_row_[row];
    Sum term{by_rank_[rank].weight, by_rank_[rank].weight * by_rank_[rank].value};
    left_total_ = left_total_ + term;
    for (std::size_t at = rank + 1; at < left_.size(); at += at & -at) left_[at] = left_[at] + term;
}

double MedianSplit::distances() const { return distances(true) + distances(false); }

// Any value at which half of the weight is reached gives the same sum of distances.
double MedianSplit::distances(bool left) const {
    Sum total = left ? left_total_ : all_total_ - left_total_;
    Sum below{};
    std::size_t at = 0, n = by_rank_.size();
    for (std::size_t step = std::bit_floor(n); step > 0; step /= 2) {
        if (at + step > n) continue;
        Sum more = left ? left_[at + step] : all_[at + step] - left_[at + step];
        if (below.weight + more.weight < total.weight / 2) {
            below = below + more;
            at += step;
        }
    }
    double median = by_rank_[std::min(at, n - 1)].value;
    Sum above = total - below;
    return (median * below.weight - below.product) + (above.product - median * above.weight);
}

}  // namespace bosquet
