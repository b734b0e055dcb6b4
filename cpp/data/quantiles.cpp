#include "data/quantiles.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "base/random.hpp"

namespace bosquet {

namespace {

// Maps a float to an unsigned integer with the same order.
template <class Key, class Value>
Key sortable(Value value) {
    Key bits = std::bit_cast<Key>(value + Value{0});  // -0 becomes +0: both count as one value
    constexpr Key sign = Key{1} << (8 * sizeof(Key) - 1);
    return bits & sign ? ~bits : bits | sign;
}

template <class Value, class Key>
Value from_sortable(Key key) {
    constexpr Key sign = Key{1} << (8 * sizeof(Key) - 1);
    return std::bit_cast<Value>(key & sign ? key ^ sign : static_cast<Key>(~key));
}

// Radix sort with 11 bits per pass: a fifth of the time of std::sort on the 200,000 values of a
// sample. Passes in which all keys have the same digit are skipped.
template <class Key>
void radix_sort(std::vector<Key>& keys) {
    constexpr int kBits = 11;
    constexpr std::size_t kBuckets = std::size_t{1} << kBits;
    std::vector<Key> other(keys.size());
    for (int shift = 0; shift < static_cast<int>(8 * sizeof(Key)); shift += kBits) {
        std::array<std::size_t, kBuckets> start{};
        for (Key key : keys) ++start[(key >> shift) & (kBuckets - 1)];
        if (start[(keys[0] >> shift) & (kBuckets - 1)] == keys.size()) continue;
        std::exclusive_scan(start.begin(), start.end(), start.begin(), std::size_t{0});
        for (Key key : keys) other[start[(key >> shift) & (kBuckets - 1)]++] = key;
        keys.swap(other);
    }
}

template <class Value>
void sort_values(std::vector<Value>& values) {
    if (values.size() < 512) {
        std::sort(values.begin(), values.end());
        return;
    }
    using Key = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
    std::vector<Key> keys(values.size());
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = sortable<Key>(values[i]);
    radix_sort(keys);
    for (std::size_t i = 0; i < keys.size(); ++i) values[i] = from_sortable<Value>(keys[i]);
}

template <class Value>
void sort_with_weights(std::vector<Value>& values, std::vector<double>& weights) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Equal values in the order of their weights, so that sums of weights do not depend on the
    // order of the rows.
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return values[a] != values[b] ? values[a] < values[b] : weights[a] < weights[b];
    });
    std::vector<Value> sorted_values(values.size());
    std::vector<double> sorted_weights(values.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        sorted_values[i] = values[order[i]];
        sorted_weights[i] = weights[order[i]];
    }
    values.swap(sorted_values);
    weights.swap(sorted_weights);
}

// A number e with a <= e < b: the midpoint if it is representable.
double edge_between(double a, double b) {
    double middle = a / 2 + b / 2;
    return middle >= a && middle < b ? middle : a;
}

// Reads sorted values as runs of equal values.
template <class Value>
struct Runs {
    const std::vector<Value>& sorted;
    const std::vector<double>& weights;  // empty: all 1

    struct Run {
        double value = 0;
        double weight = 0;
        std::size_t end = 0;  // start of the next run
    };

    Run from(std::size_t begin) const {
        Run run{static_cast<double>(sorted[begin]), 0, begin};
        for (; run.end < sorted.size() && !(sorted[run.end] > sorted[begin]); ++run.end)
            run.weight += weights.empty() ? 1.0 : weights[run.end];
        return run;
    }
    double total_weight() const {
        double total = 0;
        for (std::size_t begin = 0; begin < sorted.size();) {
            Run run = from(begin);
            total += run.weight;
            begin = run.end;
        }
        return total;
    }
    // The number of runs, at most `limit`.
    std::size_t count(std::size_t limit) const {
        std::size_t found = 1;
        for (std::size_t i = 1; i < sorted.size() && found < limit; ++i)
            found += sorted[i] > sorted[i - 1];
        return found;
    }
};

template <class Value>
std::vector<double> edges_between_values(const std::vector<Value>& sorted) {
    std::vector<double> edges;
    for (std::size_t i = 1; i < sorted.size(); ++i)
        if (sorted[i] > sorted[i - 1])
            edges.push_back(
                edge_between(static_cast<double>(sorted[i - 1]), static_cast<double>(sorted[i])));
    return edges;
}

// Fills bins from left to right, each up to an equal share of the remaining weight. A value with a
// large weight gets its own bin, and the values after it share the remaining bins evenly.
template <class Value>
std::vector<double> edges_of(const std::vector<Value>& sorted, const std::vector<double>& weights,
                             std::size_t max_bins) {
    Runs<Value> runs{sorted, weights};
    if (runs.count(max_bins + 1) <= max_bins) return edges_between_values(sorted);
    max_bins = std::min(max_bins, std::max<std::size_t>(sorted.size() / kRowsPerBin, 2));
    double left = weights.empty() ? static_cast<double>(sorted.size()) : runs.total_weight();
    std::vector<double> edges;
    double in_bin = 0;
    auto run = runs.from(0);
    while (run.end < sorted.size() && edges.size() + 1 < max_bins) {
        auto next = runs.from(run.end);
        in_bin += run.weight;
        double share = left / static_cast<double>(max_bins - edges.size());
        // Close the bin here if its weight is now closer to the share than after the next value.
        if (in_bin + next.weight / 2 >= share) {
            edges.push_back(edge_between(run.value, next.value));
            left -= in_bin;
            in_bin = 0;
        }
        run = next;
    }
    return edges;
}

template <class Value>
std::vector<double> edges_from(std::vector<Value>& values, std::vector<double>& weights,
                               int max_bins) {
    if (weights.empty())
        sort_values(values);
    else
        sort_with_weights(values, weights);
    return edges_of(values, weights, static_cast<std::size_t>(max_bins));
}

}  // namespace

std::vector<double> quantile_edges(std::vector<double>& values, std::vector<double>& weights,
                                   int max_bins) {
    return edges_from(values, weights, max_bins);
}

std::vector<double> quantile_edges(std::vector<float>& values, std::vector<double>& weights,
                                   int max_bins) {
    return edges_from(values, weights, max_bins);
}

std::vector<std::uint32_t> sample_rows(std::size_t rows, std::size_t limit, std::uint64_t seed) {
    return sample_run({0, rows}, rows, limit, seed);
}

std::vector<std::uint32_t> sample_run(Range run, std::uint64_t all_rows, std::size_t limit,
                                      std::uint64_t seed) {
    std::vector<std::uint32_t> chosen;
    if (all_rows <= limit) {
        chosen.resize(run.size());
        std::iota(chosen.begin(), chosen.end(), 0u);
        return chosen;
    }
    double share = static_cast<double>(limit) / static_cast<double>(all_rows);
    auto bound = static_cast<std::uint64_t>(share * 0x1p64);
    chosen.reserve(static_cast<std::size_t>(share * static_cast<double>(run.size()) * 1.04));
    for (std::size_t row = run.begin; row < run.end; ++row)
        if (hash64(seed, 0x62696e73 /* "bins" */, row) < bound)
            chosen.push_back(static_cast<std::uint32_t>(row - run.begin));
    return chosen;
}

}  // namespace bosquet
