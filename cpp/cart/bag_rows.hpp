// The rows of a bag while a tree grows. The rows of a node are contiguous.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cart/bag.hpp"
#include "cart/cart_split.hpp"
#include "cart/code_sums.hpp"
#include "cart/codes.hpp"
#include "cart/options.hpp"
#include "cart/sums.hpp"

namespace bosquet {

// The position of the rows of a node.
struct RowRange {
    std::size_t begin = 0, count = 0;
};

template <class Sums>
class BagRows {
  public:
    using Item = typename Sums::Item;

    explicit BagRows(const Sums& sums) : sums_(sums) {}

    // Loads the rows of a bag with their items, which are what a row adds to sums.
    void load(const Bag& bag, const CartTarget& target, Criterion criterion) {
        rows_ = bag.rows;
        items_.resize(rows_.size());
        offset_ = 0;
        bool centred = Sums::kPair && !target.is_classes() && criterion == Criterion::squared;
        if (centred) {
            // Sums of squares keep their precision if the numbers are centred.
            double weight = 0, sum = 0;
            for (std::size_t i = 0; i < rows_.size(); ++i) {
                weight += bag.weights[i];
                sum += bag.weights[i] * target.numbers[rows_[i]];
            }
            offset_ = sum / weight;
        }
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            double weight = bag.weights[i];
            if constexpr (Sums::kPair) {
                double y = target.is_classes() ? static_cast<double>(target.classes[rows_[i]])
                                               : target.numbers[rows_[i]] - offset_;
                items_[i] = {weight, weight * y};
            } else if constexpr (Sums::kByRow) {
                items_[i] = {weight};
            } else {
                items_[i] = {weight, target.classes[rows_[i]]};
            }
        }
        right_rows_.resize(rows_.size());
        right_items_.resize(rows_.size());
    }

    std::size_t size() const { return rows_.size(); }
    // The mean that was subtracted from the numbers.
    double offset() const { return offset_; }
    std::uint32_t row(std::size_t i) const { return rows_[i]; }
    const Item& item(std::size_t i) const { return items_[i]; }
    NodeRows<Item> rows_of_node(const RowRange& node) const {
        return {rows_.data() + node.begin, items_.data() + node.begin, node.count};
    }

    std::vector<double> sums_of(const RowRange& node) const {
        std::vector<double> sums(sums_.width());
        for (std::size_t i = node.begin; i < node.begin + node.count; ++i)
            sums_.add(sums.data(), items_[i], rows_[i]);
        return sums;
    }

    std::vector<double> weights_of(const RowRange& node) const {
        std::vector<double> weights(node.count);
        for (std::size_t i = 0; i < node.count; ++i) weights[i] = items_[node.begin + i].weight;
        return weights;
    }

    // Marks the side of each row of a node: 1 if it goes left.
    void mark_sides(const RowRange& node, const CodedColumn& column, const CartSplit& split) {
        sides_.resize(node.count);
        const std::uint32_t* rows = rows_.data() + node.begin;
        if (!split.categorical && column.is_narrow()) {
            // A missing value has code 0; subtracting 1 makes it the largest code.
            const std::uint8_t* codes = column.narrow.data();
            std::uint8_t shift = split.missing_left ? 0 : 1;
            auto bound = static_cast<std::uint8_t>(split.last - shift);
            for (std::size_t i = 0; i < node.count; ++i)
                sides_[i] = static_cast<std::uint8_t>(codes[rows[i]] - shift) <= bound;
        } else if (!split.categorical) {
            const std::uint32_t* codes = column.wide.data();
            std::uint32_t shift = split.missing_left ? 0 : 1, bound = split.last - shift;
            for (std::size_t i = 0; i < node.count; ++i)
                sides_[i] = codes[rows[i]] - shift <= bound;
        } else {
            table_of_codes_.assign(column.codes, 0);
            for (std::uint32_t code : split.left_codes) table_of_codes_[code] = 1;
            table_of_codes_[0] = split.missing_left;
            for (std::size_t i = 0; i < node.count; ++i)
                sides_[i] = table_of_codes_[column.code(rows[i])];
        }
    }

    std::vector<std::uint8_t>& sides() { return sides_; }

    // Whether the rows marked left weigh at least as much as the others.
    bool left_is_heavier(const RowRange& node) const {
        double left = 0, all = 0;
        for (std::size_t i = 0; i < node.count; ++i) {
            double weight = items_[node.begin + i].weight;
            all += weight;
            left += sides_[i] ? weight : 0.0;
        }
        return 2 * left >= all;
    }

    // Moves the rows marked left before the others, keeping the order on both sides. Returns their
    // number.
    std::size_t partition(const RowRange& node) {
        std::uint32_t* rows = rows_.data() + node.begin;
        Item* items = items_.data() + node.begin;
        std::size_t left = 0, right = 0;
        for (std::size_t i = 0; i < node.count; ++i) {
            std::uint32_t row = rows[i];
            Item item = items[i];
            bool goes_left = sides_[i] != 0;
            rows[left] = row;
            items[left] = item;
            right_rows_[right] = row;
            right_items_[right] = item;
            left += goes_left;
            right += !goes_left;
        }
        std::copy_n(right_rows_.data(), right, rows + left);
        std::copy_n(right_items_.data(), right, items + left);
        return left;
    }

  private:
    const Sums sums_;
    double offset_ = 0;
    std::vector<std::uint32_t> rows_, right_rows_;
    std::vector<Item> items_, right_items_;
    std::vector<std::uint8_t> sides_, table_of_codes_;
};

}  // namespace bosquet
