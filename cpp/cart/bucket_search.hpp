// Finds the best threshold of a large node on a column with many values, without sorting all rows.
//
// The rows are first put into at most 256 buckets of neighbouring codes. For each bucket, the
// cumulative sums of weight and target at its start and its end are known, and so are bounds for
// the sums in between: all positive targets come first, or all negative ones. The proxy gain of a
// split is a convex function of these two sums, and therefore at most its maximum over the corners
// of that region. Only buckets with a corner at least as good as the best split so far are searched
// row by row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "cart/cart_split.hpp"
#include "cart/code_sums.hpp"
#include "cart/codes.hpp"
#include "cart/sums.hpp"

namespace bosquet {

template <class Sums>
class BucketSearch {
  public:
    using Item = typename Sums::Item;

    explicit BucketSearch(const Sums& sums) : sums_(sums) {}

    // Sets the split to the best threshold, unless no threshold is as good as `floor`. Returns
    // false if this search does not apply: values are missing, or all are in one bucket.
    bool find_best_split(const CodedColumn& column, const NodeRows<Item>& node,
                         std::span<const double> all, double floor, CartSplit& split) {
        total_weight_ = all[0];
        total_sum_ = all[1];
        shift_ = 0;
        while ((column.codes - 1) >> shift_ >= kBuckets) ++shift_;
        if (!fill(column, node) || !gather_buckets()) return false;
        double best_proxy_gain = floor;
        std::size_t boundary = best_boundary(best_proxy_gain);
        mark(best_proxy_gain, boundary);
        if (any_marked_) search_marked(column, node, split);
        return true;
    }

  private:
    static constexpr std::uint32_t kBuckets = 256;
    // Corners and splits have different rounding errors.
    static constexpr double kRounding = 1e-12;

    struct Bucket {
        std::uint32_t index;
        double start_w, start_s;  // sums of all buckets to its left
        double w, s;              // sums of its own rows
        double positive;          // the part of s from positive targets
    };

    bool fill(const CodedColumn& column, const NodeRows<Item>& node) {
        const std::uint32_t* code_of = column.wide.data();
        std::fill_n(&table_[0][0], kBuckets * 3, 0.0);
        bool missing = false;
        for (std::size_t i = 0; i < node.count; ++i) {
            std::uint32_t code = code_of[node.rows[i]];
            const Item& item = node.items[i];
            missing |= code == 0;
            double* sums = table_[code >> shift_];
            sums[0] += item.weight;
            sums[1] += item.sum;
            if constexpr (!Sums::kClasses) sums[2] += std::max(item.sum, 0.0);
        }
        return !missing;
    }

    bool gather_buckets() {
        count_ = 0;
        double w = 0, s = 0;
        for (std::uint32_t index = 0; index < kBuckets; ++index) {
            const double* sums = table_[index];
            if (!(sums[0] > 0)) continue;
            buckets_[count_++] = {index,   w,       s,
                                  sums[0], sums[1], Sums::kClasses ? sums[1] : sums[2]};
            w += sums[0];
            s += sums[1];
        }
        return count_ > 1;
    }

    // The best split between two buckets: the number of buckets on its left, 0 if no split is as
    // good as `best_proxy_gain`, which is updated.
    std::size_t best_boundary(double& best_proxy_gain) const {
        std::size_t best = 0;
        for (std::size_t i = 1; i < count_; ++i) {
            double proxy_gain = sums_.children_proxy_gain(buckets_[i].start_w, buckets_[i].start_s,
                                                          total_weight_, total_sum_);
            if (!std::isfinite(proxy_gain)) continue;  // almost no weight on one side
            if (proxy_gain > best_proxy_gain || (proxy_gain == best_proxy_gain && best == 0)) {
                best_proxy_gain = proxy_gain;
                best = i;
            }
        }
        return best;
    }

    void mark(double best_proxy_gain, std::size_t boundary) {
        std::fill_n(marked_, kBuckets, std::uint8_t{0});
        any_marked_ = boundary > 0;
        if (boundary > 0)
            marked_[buckets_[boundary - 1].index] = marked_[buckets_[boundary].index] = 1;
        double needed = best_proxy_gain - kRounding * std::abs(best_proxy_gain);
        for (std::size_t i = 0; i < count_; ++i)
            if (bound_inside(buckets_[i]) >= needed)
                marked_[buckets_[i].index] = any_marked_ = true;
    }

    // An upper bound of the proxy gain of all splits inside the bucket.
    double bound_inside(const Bucket& bucket) const {
        double w = bucket.start_w, s = bucket.start_s, up = bucket.positive;
        if constexpr (Sums::kClasses) {
            // Rows of the second class add their weight to both sums, the others only to the first.
            double others = bucket.w - bucket.s;
            return std::max(corner(w + up, s + up), corner(w + others, s));
        } else {
            double down = bucket.s - up;
            double left = std::max(corner(w, s + up), corner(w, s + down));
            w += bucket.w;
            return std::max(left, std::max(corner(w, s + up), corner(w, s + down)));
        }
    }

    double corner(double w, double s) const {
        return side_proxy_gain(w, s) + side_proxy_gain(total_weight_ - w, total_sum_ - s);
    }

    double side_proxy_gain(double w, double s) const {
        if (w > kRounding * total_weight_) return sums_.node_proxy_gain(w, s);
        // Almost no weight: for classes its proxy gain is 0, for numbers it is unbounded.
        return Sums::kClasses ? 0.0 : std::numeric_limits<double>::infinity();
    }

    // Evaluates all splits in the marked buckets, from the lowest code.
    void search_marked(const CodedColumn& column, const NodeRows<Item>& node, CartSplit& split) {
        const std::uint32_t* code_of = column.wide.data();
        keys_.resize(node.count + 1);
        std::size_t size = 0;
        for (std::size_t i = 0; i < node.count; ++i) {
            std::uint32_t code = code_of[node.rows[i]];
            keys_[size] = std::uint64_t{code} << 32 | i;
            size += marked_[code >> shift_];
        }
        keys_.resize(size);
        sort_by_code(keys_, other_keys_, column.codes);
        double w = 0, s = 0;
        std::uint32_t before = 0;             // code of the previous row
        std::size_t at = 0, next_bucket = 0;  // current bucket and the one after it
        for (std::uint64_t key : keys_) {
            auto code = static_cast<std::uint32_t>(key >> 32);
            bool is_new = before == 0 || code >> shift_ != before >> shift_;
            if (is_new) {
                for (at = next_bucket; buckets_[at].index != code >> shift_;) ++at;
                w = buckets_[at].start_w;
                s = buckets_[at].start_s;
            }
            // After a bucket that was not searched, the lower neighbour of the threshold is
            // unknown.
            bool is_split = is_new ? before != 0 && at == next_bucket : code != before;
            if (is_split) consider(column, w, s, before, code, split);
            next_bucket = at + 1;
            before = code;
            const Item& item = node.items[static_cast<std::uint32_t>(key)];
            w += item.weight;
            s += item.sum;
        }
    }

    void consider(const CodedColumn& column, double w, double s, std::uint32_t below,
                  std::uint32_t above, CartSplit& split) const {
        double proxy_gain = sums_.children_proxy_gain(w, s, total_weight_, total_sum_);
        if (!(proxy_gain > split.gain) || !std::isfinite(proxy_gain)) return;
        split.gain = proxy_gain;
        split.last = below;
        split.threshold = column.threshold(below, above);
    }

    const Sums sums_;
    double total_weight_ = 0, total_sum_ = 0;
    int shift_ = 0;
    double table_[kBuckets][3];
    Bucket buckets_[kBuckets];
    std::size_t count_ = 0;
    std::uint8_t marked_[kBuckets];
    bool any_marked_ = false;
    std::vector<std::uint64_t> keys_, other_keys_;
};

}  // namespace bosquet
