#include "boosting/row_sampler.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "base/fixed_sum.hpp"
#include "base/random.hpp"

namespace bosquet {

namespace {

constexpr std::uint64_t kStream = 0x726f7773;  // "rows"

// A histogram of gradient lengths by their leading bits: a bin spans 1/256 of a power of two, which
// is fine enough for a threshold.
constexpr int kDropBits = 15;
constexpr std::size_t kLengthBins = std::size_t{1} << (31 - kDropBits);

// The threshold t for which the sum of min(1, length / t) is `expected_rows`. The loop starts from
// the longest bin: rows above t are all kept, the others share the rest.
double length_threshold(const std::vector<std::int64_t>& counts, double expected_rows) {
    auto middle = [](std::size_t bin) {
        auto bits = static_cast<std::uint32_t>((bin << kDropBits) + (1u << (kDropBits - 1)));
        return static_cast<double>(std::bit_cast<float>(bits));
    };
    double below = 0;
    // The last bins are those of infinity, so that empty bins must not be multiplied.
    for (std::size_t bin = 0; bin < kLengthBins; ++bin)
        if (counts[bin] != 0) below += static_cast<double>(counts[bin]) * middle(bin);
    double rows_above = 0;
    for (std::size_t bin = kLengthBins; bin-- > 0;) {
        if (counts[bin] == 0) continue;
        double threshold =
            expected_rows > rows_above ? below / (expected_rows - rows_above) : middle(bin);
        if (threshold >= middle(bin)) return threshold;
        below -= static_cast<double>(counts[bin]) * middle(bin);
        rows_above += static_cast<double>(counts[bin]);
    }
    return 0;
}

}  // namespace

template <class IsKept>
void RowSampler::collect_rows(std::size_t rows, Team& team, IsKept is_kept) {
    if (rows_.size() != rows) rows_ = Buffer<std::uint32_t>(rows);
    // The rows of each block are first written to the start of the block, then moved together.
    std::vector<std::size_t> counts(block_count(rows));
    team.run(counts.size(), [&](std::size_t index, int) {
        Range range = block_range(rows, index);
        std::uint32_t* out = rows_.data() + range.begin;
        std::size_t count = 0;
        for (std::size_t row = range.begin; row < range.end; ++row) {
            out[count] = static_cast<std::uint32_t>(row);
            count += is_kept(row);
        }
        counts[index] = count;
    });
    count_ = 0;
    for (std::size_t index = 0; index < counts.size(); ++index) {
        const std::uint32_t* from = rows_.data() + block_range(rows, index).begin;
        std::copy(from, from + counts[index], rows_.data() + count_);
        count_ += counts[index];
    }
}

// Whether no row of any part was drawn.
bool RowSampler::draws_nothing(const Part& part) const {
    return part.reducer->sum_of(static_cast<std::int64_t>(count_)) == 0;
}

// Draws the row with this number, if it is in this part.
void RowSampler::add_row(std::uint64_t number, std::size_t rows, const Part& part) {
    for (std::size_t row = 0; row < rows; ++row)
        if (part.number_of(row) == number) rows_[count_++] = static_cast<std::uint32_t>(row);
}

void RowSampler::draw_uniform(std::size_t rows, const Part& part, double share, std::uint64_t seed,
                              std::uint64_t round, Team& team) {
    std::uint64_t stream = mix64(round ^ kStream);
    collect_rows(rows, team, [&](std::size_t row) {
        return uniform(seed, stream, part.number_of(row)) < share;
    });
    if (draws_nothing(part)) add_row(hash64(seed, stream, 0) % part.all_rows, rows, part);
}

void RowSampler::draw_by_gradient(const GradientPair* pairs, std::span<const GradientRange> ranges,
                                  std::size_t rows, const Part& part, double share,
                                  std::uint64_t seed, std::uint64_t round, Team& team) {
    auto outputs = static_cast<std::uint32_t>(ranges.size());
    outputs_ = outputs;
    if (length_.size() != rows) length_ = Buffer<float>(rows);
    if (scaled_.size() != rows * outputs) scaled_ = Buffer<GradientPair>(rows * outputs);

    double largest_h = 0;
    for (const GradientRange& range : ranges)
        largest_h = std::max<double>(largest_h, range.largest_h());
    FixedUnit unit = fixed_unit(largest_h * largest_h, part.all_rows * outputs);
    std::vector<std::int64_t> totals(team.size());
    team.run(block_count(rows), [&](std::size_t index, int worker) {
        Range range = block_range(rows, index);
        for (std::uint32_t k = 0; k < outputs; ++k)
            for (std::size_t row = range.begin; row < range.end; ++row) {
                double h = pairs[k * rows + row].h;
                totals[worker] += to_multiple(h * h, unit.per_unit);
            }
    });
    double total = unit.value_of(
        part.reducer->sum_of(std::accumulate(totals.begin(), totals.end(), std::int64_t{0})));
    // A tenth of the mean squared Hessian gives well-fitted rows a chance to be drawn.
    double floor = 0.1 * total / static_cast<double>(part.all_rows);

    int workers = team.size();
    std::vector<std::vector<std::int64_t>> counts(workers);
    team.run(block_count(rows), [&](std::size_t index, int worker) {
        if (counts[worker].empty()) counts[worker].resize(kLengthBins);
        Range range = block_range(rows, index);
        for (std::size_t row = range.begin; row < range.end; ++row) {
            double sum = floor;
            for (std::uint32_t k = 0; k < outputs; ++k) {
                double g = pairs[k * rows + row].g;
                sum += g * g;
            }
            auto length = static_cast<float>(std::sqrt(sum));
            if (!std::isfinite(length)) throw InputError(kBadGradients);
            length_[row] = length;
            ++counts[worker][std::bit_cast<std::uint32_t>(length) >> kDropBits];
        }
    });
    std::vector<std::int64_t> total_counts(kLengthBins);
    for (const auto& worker_counts : counts)
        for (std::size_t bin = 0; bin < worker_counts.size(); ++bin)
            total_counts[bin] += worker_counts[bin];
    part.reducer->add(total_counts);
    double threshold = length_threshold(total_counts, share * static_cast<double>(part.all_rows));

    std::uint64_t stream = mix64(round ^ kStream);
    collect_rows(rows, team, [&](std::size_t row) {
        double probability = threshold > 0 ? length_[row] / threshold : 1.0;
        bool is_drawn = uniform(seed, stream, part.number_of(row)) < probability;
        auto scale = static_cast<float>(is_drawn ? (probability < 1 ? 1 / probability : 1.0) : 0.0);
        for (std::uint32_t k = 0; k < outputs; ++k) {
            const GradientPair& pair = pairs[k * rows + row];
            scaled_[k * rows + row] = {pair.g * scale, pair.h * scale};
        }
        return is_drawn;
    });
    if (draws_nothing(part)) add_row(0, rows, part);
}

}  // namespace bosquet
