// The sums over the rows of a node for each code of a column that occurs, in order of the codes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "cart/codes.hpp"

namespace bosquet {

// The rows of a node with their items.
template <class Item>
struct NodeRows {
    const std::uint32_t* rows;
    const Item* items;
    std::size_t count;
};

// Sorts keys by their upper half, the code. The lower half is the index of the row in the node.
inline void sort_by_code(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& other,
                         std::uint32_t codes) {
    constexpr int kBits = 11;
    constexpr std::uint32_t kBuckets = 1u << kBits;
    // A radix pass has to clear all buckets; for fewer keys std::sort is faster.
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
class CodeSums {
  public:
    explicit CodeSums(const Sums& sums)
        : sums_(sums), histogram_(256 * std::size_t{sums.width()}), counts_of_(256) {
        reserve(256);
    }

    // Computes the entries of a column. `counted`: also count the rows of each entry.
    void collect(const CodedColumn& column, const NodeRows<typename Sums::Item>& node,
                 bool counted) {
        first_ = size_ = 0;
        if (column.is_narrow())
            collect_narrow(column, node, counted);
        else if (std::size_t{column.codes} <= kMaxCodesPerRow * node.count &&
                 std::size_t{column.codes} * sums_.width() <= kMaxTableSize)
            collect_in_table(column, node, counted);
        else
            collect_wide(column, node, counted);
    }

    std::size_t size() const { return size_ - first_; }
    std::uint32_t code(std::size_t i) const { return codes_[first_ + i]; }
    const double* sums_of_entry(std::size_t i) const {
        return entry_sums_.data() + (first_ + i) * sums_.width();
    }
    // The number of rows of an entry, if collect() counted them.
    std::uint32_t count(std::size_t i) const { return counts_[first_ + i]; }
    bool has_missing() const { return size() > 0 && code(0) == 0; }
    // Removes the entry of missing values.
    void drop_missing() { first_ += has_missing(); }

  private:
    // A table with an entry for every code of a column is faster than sorting the rows as long as
    // it fits into the cache and most of its entries are used.
    static constexpr std::size_t kMaxTableSize = std::size_t{1} << 17;
    static constexpr std::size_t kMaxCodesPerRow = 6;

    void reserve(std::size_t entries) {
        if (codes_.size() >= entries) return;
        codes_.resize(entries);
        counts_.resize(entries);
        entry_sums_.resize(entries * sums_.width());
    }

    // Uses a table of all codes, and a byte per code that is set if the code occurs.
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

    // The same for more than 256 codes; a code occurs if its weight is positive.
    void collect_in_table(const CodedColumn& column, const NodeRows<typename Sums::Item>& node,
                          bool counted) {
        const std::uint32_t* code_of = column.wide.data();
        const std::uint32_t width = sums_.width();
        reserve(std::min<std::size_t>(node.count, column.codes) + 1);
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
        // Every code is written, and kept only if it occurs. This avoids a branch that would be
        // mispredicted about half of the time in a child of the root.
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
        reserve(node.count);
        keys_.resize(node.count);
        for (std::size_t i = 0; i < node.count; ++i)
            keys_[i] = std::uint64_t{code_of[node.rows[i]]} << 32 | i;
        sort_by_code(keys_, other_keys_, column.codes);
        double* out = entry_sums_.data();
        for (std::uint64_t key : keys_) {
            auto code = static_cast<std::uint32_t>(key >> 32);
            auto index = static_cast<std::uint32_t>(key);
            if (size_ == 0 || codes_[size_ - 1] != code) {
                if (size_ > 0) out += width;
                codes_[size_] = code;
                counts_[size_] = 0;
                std::fill_n(out, width, 0.0);
                ++size_;
            }
            sums_.add(out, node.items[index], node.rows[index]);
            if (counted) ++counts_[size_ - 1];
        }
    }

    const Sums sums_;
    std::vector<double> histogram_;  // all 0 between calls, like counts_of_
    std::vector<std::uint32_t> counts_of_;
    alignas(64) std::uint8_t occurs_[256];
    std::vector<std::uint64_t> keys_, other_keys_;

    std::size_t first_ = 0, size_ = 0;  // entries in use
    std::vector<std::uint32_t> codes_, counts_;
    std::vector<double> entry_sums_;
};

}  // namespace bosquet
