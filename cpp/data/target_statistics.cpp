#include "data/target_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/interrupt.hpp"
#include "base/random.hpp"

namespace bosquet {

namespace {

constexpr std::uint64_t kFoldStream = 0x666f6c64;  // "fold"
constexpr std::size_t kKeyRows = 1024;             // rows whose keys are computed at a time

// The sums of each level over some rows: the weight, then each target.
class LevelSums {
  public:
    LevelSums(std::size_t levels, const StatisticsTarget& target)
        : target_(&target), width_(1 + target.targets()), sums_(levels * width_) {}

    void add(std::uint32_t level, std::size_t row) {
        double* sums = sums_.data() + level * width_;
        double weight = target_->weight.empty() ? 1.0 : target_->weight[row];
        sums[0] += weight;
        for (std::size_t k = 0; k + 1 < width_; ++k)
            sums[1 + k] += weight * target_->values[k * target_->rows + row];
    }
    void clear(std::uint32_t level) { std::fill_n(sums_.data() + level * width_, width_, 0.0); }
    const double* sums_of_level(std::uint32_t level) const { return sums_.data() + level * width_; }

  private:
    const StatisticsTarget* target_;
    std::size_t width_;
    std::vector<double> sums_;
};

// Calls visit(row, total, own) for each row: the sums of its level over all rows, and over the rows
// of its fold.
template <class Visit>
void for_each_fold(const NumberedRows& group, const StatisticsTarget& target, Folds folds,
                   Visit&& visit) {
    LevelSums all(group.levels, target), own(group.levels, target);
    for (std::size_t row = 0; row < target.rows; ++row) all.add(group.numbers[row], row);
    for (const auto& fold : folds) {
        for (std::uint32_t row : fold) own.add(group.numbers[row], row);
        for (std::uint32_t row : fold)
            visit(row, all.sums_of_level(group.numbers[row]),
                  own.sums_of_level(group.numbers[row]));
        for (std::uint32_t row : fold) own.clear(group.numbers[row]);
    }
}

// The mean of target k over the rows of a level outside a fold.
double held_out_mean(const StatisticsTarget& target, const double* all, const double* own,
                     std::size_t k) {
    double sum = all[1 + k] - own[1 + k] + target.strength * target.prior[k];
    double weight = all[0] - own[0] + target.strength;
    return weight > 0 ? sum / weight : target.prior[k];
}

}  // namespace

std::uint64_t LevelGroup::keys() const {
    std::uint64_t product = 1;
    for (std::uint32_t count : levels)
        if (__builtin_mul_overflow(product, std::uint64_t{count} + 1, &product) || product >> 63)
            return 0;
    return product;
}

void read_keys(const Table& table, const LevelGroup& group, std::size_t begin, std::size_t count,
               std::uint64_t* keys) {
    double codes[kKeyRows];
    std::fill_n(keys, count, 0);
    for (std::size_t j = 0; j < group.columns.size(); ++j) {
        std::uint64_t levels = group.levels[j];
        for (std::size_t done = 0; done < count; done += kKeyRows) {
            std::size_t some = std::min(kKeyRows, count - done);
            read_column(table.columns[group.columns[j]], begin + done, some, codes);
            for (std::size_t i = 0; i < some; ++i) {
                std::uint64_t& key = keys[done + i];
                double code = std::isnan(codes[i]) ? -1 : codes[i];
                bool known = code >= -1 && code < static_cast<double>(levels);
                key = known && key != kUnknownKey
                          ? key * (levels + 1) + static_cast<std::uint64_t>(code + 1)
                          : kUnknownKey;
            }
        }
    }
}

LevelIndex::LevelIndex(std::vector<std::uint64_t> keys) : keys_(std::move(keys)) {
    std::uint64_t last = keys_.empty() ? 0 : keys_.back();
    while (last >> shift_ > 2 * keys_.size()) ++shift_;
    begin_.resize((last >> shift_) + 2);
    for (std::uint64_t key : keys_) ++begin_[(key >> shift_) + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
}

std::uint32_t LevelIndex::find(std::uint64_t key) const {
    std::uint64_t range = key >> shift_;
    if (range >= begin_.size() - 1) return kUnknownLevel;  // range + 1 can overflow
    auto end = keys_.begin() + begin_[range + 1];
    auto found = std::lower_bound(keys_.begin() + begin_[range], end, key);
    if (found == end || *found != key) return kUnknownLevel;
    return static_cast<std::uint32_t>(found - keys_.begin());
}

LevelIndex number_levels(const Table& table, const LevelGroup& group, std::uint32_t* numbers) {
    std::vector<std::uint64_t> keys(table.rows);
    read_keys(table, group, 0, table.rows, keys.data());
    std::vector<std::uint64_t> distinct = keys;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    if (!distinct.empty() && distinct.back() == kUnknownKey) distinct.pop_back();
    LevelIndex index(std::move(distinct));
    for (std::size_t row = 0; row < table.rows; ++row) numbers[row] = index.find(keys[row]);
    return index;
}

std::vector<std::vector<std::uint32_t>> random_folds(std::size_t rows, std::size_t folds,
                                                     std::uint64_t seed, std::uint64_t version) {
    std::vector<std::vector<std::uint32_t>> result(folds);
    for (std::size_t row = 0; row < rows; ++row)
        result[hash64(seed, kFoldStream + version, row) % folds].push_back(
            static_cast<std::uint32_t>(row));
    return result;
}

void held_out_means(const NumberedRows& group, const StatisticsTarget& target, Folds folds,
                    float* out) {
    auto write = [&](std::uint32_t row, const double* all, const double* own) {
        for (std::size_t k = 0; k < target.targets(); ++k)
            out[k * target.rows + row] = static_cast<float>(held_out_mean(target, all, own, k));
        out[target.targets() * target.rows + row] = static_cast<float>(all[0] - own[0]);
    };
    for_each_fold(group, target, folds, write);
}

double held_out_gain(const NumberedRows& group, const StatisticsTarget& target, Folds folds) {
    struct Products {
        double rm = 0, mm = 0, rr = 0;  // Σ w r m, Σ w m², Σ w r²
    };
    std::vector<Products> products(target.targets());
    double total = 0;
    for_each_fold(group, target, folds,
                  [&](std::uint32_t row, const double* all, const double* own) {
                      double w = target.weight.empty() ? 1.0 : target.weight[row];
                      total += w;
                      for (std::size_t k = 0; k < target.targets(); ++k) {
                          double r = target.values[k * target.rows + row] - target.prior[k];
                          double m = held_out_mean(target, all, own, k) - target.prior[k];
                          products[k].rm += w * r * m;
                          products[k].mm += w * m * m;
                          products[k].rr += w * r * r;
                      }
                  });
    double gain = 0;
    for (const Products& p : products)
        if (p.rm > 0 && p.mm > 0 && p.rr > 0) gain += p.rm * p.rm / p.mm / (p.rr / total);
    return gain;
}

std::size_t TargetTables::columns() const {
    std::size_t total = 0;
    for (const Part& part : parts_) total += part.width;
    return total;
}

std::size_t TargetTables::sources() const {
    std::size_t count = 0;
    for (const Part& part : parts_)
        for (std::uint32_t column : part.group.columns)
            count = std::max(count, std::size_t{column} + 1);
    return count;
}

void TargetTables::derive(const Table& table, Team& team, float* out) const {
    team.run(block_count(table.rows), [&](std::size_t index, int) {
        Range range = block_range(table.rows, index);
        std::vector<std::uint64_t> keys(range.size());
        float* column = out + range.begin;
        for (const Part& part : parts_) {
            check_interrupt(64 * range.size());
            read_keys(table, part.group, range.begin, range.size(), keys.data());
            for (std::size_t i = 0; i < range.size(); ++i) {
                std::uint32_t number = part.index.find(keys[i]);
                const float* values = number == kUnknownLevel
                                          ? part.unknown.data()
                                          : part.values.data() + number * part.width;
                for (std::size_t v = 0; v < part.width; ++v) column[v * table.rows + i] = values[v];
            }
            column += part.width * table.rows;
        }
    });
}

}  // namespace bosquet
