// The rows of a node by the code of one column: one entry for each code that occurs, in order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "cart/codes.hpp"

namespace bosquet {

// The rows of a node and what each adds.
template <class Item>
struct NodeRows {
    const std::uint32_t* rows;
    const Item* items;
    std::size_t count;
};

// Codes in order, each with the place of its row in the node: the code in the upper half.
inline void sort_places(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& other,
                        std::uint32_t codes) {
    constexpr int kBits = 11;
    constexpr std::uint32_t kBuckets = 1u << kBits;
    // Counting a digit costs its buckets; below this, comparing is cheaper.
    if (keys.size() < 512) {
        std::sort(keys.begin(), keys.end());
        return;
    }
    other.resize(keys.size());
    std::vector<std::uint32_t> starts(kBuckets);
    for (int shift = 0; codes >> shift != 0 && shift < 32; shift += kBits) {
        std::fill(starts.begin(), starts.end(), 0u);
        for (std::uint64_t key : keys) ++starts[key >> (32 + shift) & (kBuckets - 1)];
        std::uint32_t begin = 0;
        for (std::uint32_t& start : starts) {
            std::uint32_t size = start;
            start = begin;
            begin += size;
        }
        for (std::uint64_t key : keys) other[starts[key >> (32 + shift) & (kBuckets - 1)]++] = key;
        keys.swap(other);
    }
}

template <class Sums>
class Entries {
  public:
    explicit Entries(const Sums& sums)
        : sums_(sums), histogram_(256 * std::size_t{sums.width()}), counts_of_(256) {
        make_room(256);
    }

    // Fills the entries from a column. `counted`: with the number of rows of each.
    void collect(const CodedColumn& column, const NodeRows<typename Sums::Item>& node,
                 bool counted) {
        first_ = size_ = 0;
        if (column.is_narrow())
            collect_narrow(column, node, counted);
        else if (std::size_t{column.codes} <= kSweptCodes * node.count &&
                 std::size_t{column.codes} * sums_.width() <= kTableNumbers)
            collect_in_table(column, node, counted);
        else
            collect_wide(column, node, counted);
    }

    std::size_t size() const { return size_ - first_; }
    std::uint32_t code(std::size_t i) const { return codes_[first_ + i]; }
    const double* of(std::size_t i) const {
        return entry_sums_.data() + (first_ + i) * sums_.width();
    }
    // Rows of an entry, if they were asked for.
    std::uint32_t count(std::size_t i) const { return counts_[first_ + i]; }
    bool has_missing() const { return size() > 0 && code(0) == 0; }
    // Forgets the missing values.
    void drop_missing() { first_ += has_missing(); }

  private:
    // A table with a place for every code of a column beats sorting the rows as long as it stays in
    // the cache, and most of its places are not swept in vain.
    static constexpr std::size_t kTableNumbers = std::size_t{1} << 17;
    static constexpr std::size_t kSweptCodes = 6;

    void make_room(std::size_t entries) {
        if (codes_.size() >= entries) return;
        codes_.resize(entries);
        counts_.resize(entries);
        entry_sums_.resize(entries * sums_.width());
    }

    // A table of all codes, with a byte that says which occur.
    void collect_narrow(const CodedColumn& column, const NodeRows<typename Sums::Item>& node,
                        bool counted) {
        const std::uint8_t* code_of = column.narrow.data();
        const std::uint32_t width = sums_.width();
        const std::size_t used = (column.codes + 7) / 8 * 8;
        double* histogram = histogram_.data();
        std::memset(occurs_, 0, used);
        for (std::size_t i = 0; i < node.count; ++i) {
            std::uint32_t row = node.rows[i], code = code_of[row];
            sums_.add(histogram + code * width, node.items[i], row);
            occurs_[code] = 1;
        }
        if (counted)
            for (std::size_t i = 0; i < node.count; ++i) ++counts_of_[code_of[node.rows[i]]];
        std::size_t size = 0;
        double* out = entry_sums_.data();
        for (std::size_t eight = 0; eight < used; eight += 8) {
            std::uint64_t word;
            std::memcpy(&word, occurs_ + eight, 8);
            for (; word != 0; word &= word - 1) {
                std::size_t code = eight + static_cast<std::size_t>(std::countr_zero(word)) / 8;
                double* entry = histogram + code * width;
                codes_[size] = static_cast<std::uint32_t>(code);
                for (std::uint32_t k = 0; k < width; ++k) {
                    out[k] = entry[k];
                    entry[k] = 0;
                }
                out += width;
                if (counted) {
                    counts_[size] = counts_of_[code];
                    counts_of_[code] = 0;
                }
                ++size;
            }
        }
        size_ = size;
    }

    // The same for more codes than a byte has; a code that occurs has a weight.
    void collect_in_table(const CodedColumn& column, const NodeRows<typename Sums::Item>& node,
                          bool counted) {
        const std::uint32_t* code_of = column.wide.data();
        const std::uint32_t width = sums_.width();
        make_room(std::min<std::size_t>(node.count, column.codes) + 1);
        if (histogram_.size() < std::size_t{column.codes} * width)
            histogram_.resize(std::size_t{column.codes} * width);
        double* histogram = histogram_.data();
        for (std::size_t i = 0; i < node.count; ++i) {
            std::uint32_t row = node.rows[i];
            sums_.add(histogram + std::size_t{code_of[row]} * width, node.items[i], row);
        }
        if (counted) {
            if (counts_of_.size() < column.codes) counts_of_.resize(column.codes);
            for (std::size_t i = 0; i < node.count; ++i) ++counts_of_[code_of[node.rows[i]]];
        }
        // Every code is written down, and stays if it occurs: no branch to guess, where in a child of
        // the root about every second guess would be wrong.
        std::size_t size = 0;
        for (std::uint32_t code = 0; code < column.codes; ++code) {
            double* entry = histogram + std::size_t{code} * width;
            double* out = entry_sums_.data() + size * width;
            std::size_t occurs = sums_.weight(entry) > 0;
            codes_[size] = code;
            for (std::uint32_t k = 0; k < width; ++k) {
                out[k] = entry[k];
                entry[k] = 0;
            }
            if (counted) {
                counts_[size] = counts_of_[code];
                counts_of_[code] = 0;
            }
            size += occurs;
        }
        size_ = size;
    }

    void collect_wide(const CodedColumn& column, const NodeRows<typename Sums::Item>& node,
                      bool counted) {
        const std::uint32_t* code_of = column.wide.data();
        const std::uint32_t width = sums_.width();
        make_room(node.count);
        keys_.resize(node.count);
        for (std::size_t i = 0; i < node.count; ++i)
            keys_[i] = std::uint64_t{code_of[node.rows[i]]} << 32 | i;
        sort_places(keys_, other_keys_, column.codes);
        double* out = entry_sums_.data();
        for (std::uint64_t key : keys_) {
            auto code = static_cast<std::uint32_t>(key >> 32);
            auto place = static_cast<std::uint32_t>(key);
            if (size_ == 0 || codes_[size_ - 1] != code) {
                if (size_ > 0) out += width;
                codes_[size_] = code;
                counts_[size_] = 0;
                std::fill_n(out, width, 0.0);
                ++size_;
            }
            sums_.add(out, node.items[place], node.rows[place]);
            if (counted) ++counts_[size_ - 1];
        }
    }

    const Sums sums_;
    std::vector<double> histogram_;  // all 0 between calls, as counts_of_
    std::vector<std::uint32_t> counts_of_;
    alignas(64) std::uint8_t occurs_[256];
    std::vector<std::uint64_t> keys_, other_keys_;

    std::size_t first_ = 0, size_ = 0;  // entries in use
    std::vector<std::uint32_t> codes_, counts_;
    std::vector<double> entry_sums_;
};

}  // namespace bosquet
