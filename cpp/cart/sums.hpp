// The sums over the rows of a node that are needed to score a split, for each kind of target. A row
// adds its item and, with kByRow, values looked up by its row number.
//
// The proxy gain of a node is large if its rows are similar: the impurity of a node times its
// weight is a constant of its rows minus its proxy gain. The split with the largest decrease of
// impurity is therefore the one with the largest sum of its children's proxy gains.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "cart/options.hpp"

namespace bosquet {

inline double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0.0; }

// Two numbers: the weight of the rows and their weighted target, which is a number, or 0 and 1 for
// two classes.
template <Criterion kCriterion>
struct PairSums {
    struct Item {
        double weight, sum;
    };
    static constexpr bool kPair = true, kByRow = false;
    static constexpr bool kClasses =
        kCriterion == Criterion::gini || kCriterion == Criterion::entropy;
    // Whether the proxy gain of a split is a convex function of the sums on its left
    // (cart/bucket_search.hpp).
    static constexpr bool kConvex = kClasses || kCriterion == Criterion::squared;
    static constexpr std::uint32_t width() { return 2; }
    static double weight(const double* sums) { return sums[0]; }
    static void add(double* sums, const Item& item, std::uint32_t) {
        sums[0] += item.weight;
        sums[1] += item.sum;
    }
    static double proxy_gain(const double* sums) {
        double w = sums[0], s = sums[1];
        if constexpr (kCriterion == Criterion::squared || kCriterion == Criterion::absolute)
            return s * s / w;
        if constexpr (kCriterion == Criterion::gini) return (s * s + (w - s) * (w - s)) / w;
        if constexpr (kCriterion == Criterion::entropy)
            return x_log_x(s) + x_log_x(w - s) - x_log_x(w);
        // Poisson: a child whose targets are all 0 would predict a mean of 0, for which positive
        // counts are impossible.
        if constexpr (kCriterion == Criterion::poisson)
            return s > 0 ? s * std::log(s / w) : -std::numeric_limits<double>::infinity();
    }
    // The proxy gain of a node and of its two children, up to terms that do not depend on the
    // split.
    static double node_proxy_gain(double w, double s) {
        if constexpr (kCriterion == Criterion::squared || kCriterion == Criterion::gini) {
            return s * s / w;
        } else {
            double sums[2] = {w, s};
            return proxy_gain(sums);
        }
    }
    static double children_proxy_gain(double left_w, double left_s, double w, double s) {
        double right_w = w - left_w, right_s = s - left_s;
        if constexpr (kCriterion == Criterion::squared || kCriterion == Criterion::gini) {
            return (left_s * left_s * right_w + right_s * right_s * left_w) / (left_w * right_w);
        } else {
            double left[2] = {left_w, left_s}, right[2] = {right_w, right_s};
            return proxy_gain(left) + proxy_gain(right);
        }
    }
};

// The weight of each class.
template <Criterion kCriterion>
struct ClassSums {
    struct Item {
        double weight;
        std::uint32_t which;
    };
    static constexpr bool kPair = false, kByRow = false;
    std::uint32_t classes;

    std::uint32_t width() const { return classes; }
    double weight(const double* sums) const {
        double total = 0;
        for (std::uint32_t k = 0; k < classes; ++k) total += sums[k];
        return total;
    }
    void add(double* sums, const Item& item, std::uint32_t) const {
        sums[item.which] += item.weight;
    }
    double proxy_gain(const double* sums) const {
        double total = 0, score = 0;
        for (std::uint32_t k = 0; k < classes; ++k) {
            total += sums[k];
            score += kCriterion == Criterion::gini ? sums[k] * sums[k] : x_log_x(sums[k]);
        }
        return kCriterion == Criterion::gini ? score / total : score - x_log_x(total);
    }
    bool one_class(const double* sums) const {
        std::uint32_t present = 0;
        for (std::uint32_t k = 0; k < classes; ++k) present += sums[k] > 0;
        return present < 2;
    }
};

// The weight of each class of several targets; the classes of a target follow those of the previous
// one. Like the impurity, the proxy gain is the mean over the targets.
template <Criterion kCriterion>
struct SeveralClassSums {
    struct Item {
        double weight;
    };
    static constexpr bool kPair = false, kByRow = true;
    std::uint32_t classes;                  // of all targets together
    std::span<const std::uint32_t> counts;  // of each target
    const std::uint32_t* class_numbers;     // class number of target t of row i at t * stride + i
    std::size_t stride;

    std::uint32_t width() const { return classes; }
    double weight(const double* sums) const {
        return ClassSums<kCriterion>{counts[0]}.weight(sums);
    }
    void add(double* sums, const Item& item, std::uint32_t row) const {
        for (std::size_t t = 0; t < counts.size(); ++t)
            sums[class_numbers[t * stride + row]] += item.weight;
    }
    double proxy_gain(const double* sums) const {
        double total = 0;
        for (std::uint32_t count : counts) {
            total += ClassSums<kCriterion>{count}.proxy_gain(sums);
            sums += count;
        }
        return total / static_cast<double>(counts.size());
    }
    bool one_class(const double* sums) const {
        for (std::uint32_t count : counts) {
            if (!ClassSums<kCriterion>{count}.one_class(sums)) return false;
            sums += count;
        }
        return true;
    }
};

// The weight and the weighted sum of each number.
struct VectorSums {
    struct Item {
        double weight;
    };
    static constexpr bool kPair = false, kByRow = true;
    std::uint32_t numbers;
    const double* values;  // number k of row i at k * stride + i
    std::size_t stride;

    std::uint32_t width() const { return numbers + 1; }
    double weight(const double* sums) const { return sums[0]; }
    void add(double* sums, const Item& item, std::uint32_t row) const {
        sums[0] += item.weight;
        for (std::uint32_t k = 0; k < numbers; ++k)
            sums[k + 1] += item.weight * values[k * stride + row];
    }
    double proxy_gain(const double* sums) const {
        double score = 0;
        for (std::uint32_t k = 0; k < numbers; ++k) score += sums[k + 1] * sums[k + 1];
        return score / sums[0];
    }
};

}  // namespace bosquet
