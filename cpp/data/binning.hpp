// Learns the bins of each column and converts a table to bins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/isa.hpp"
#include "data/table.hpp"
#include "parallel/team.hpp"

namespace bosquet {

// Bin 0 holds missing values. A quantitative value x is in bin 1 + #{edges below x}, the category
// with code c in bin 1 + c. A code that did not occur in training counts as missing.
struct FeatureBins {
    bool categorical = false;
    bool has_missing = false;
    std::uint32_t categories = 0;
    std::vector<double> edges;

    std::uint32_t bins() const {
        return 1 + (categorical ? categories : static_cast<std::uint32_t>(edges.size()) + 1);
    }
    // More than 255 levels need two bytes.
    bool wide() const { return bins() > 256; }
    // A column with a single value cannot be split.
    bool is_splittable() const { return bins() > 2 || has_missing; }
};

// The categories of the bins of a categorical column, without the bin of missing values.
inline std::vector<std::uint32_t> categories_of_bins(std::span<const std::uint32_t> bins) {
    std::vector<std::uint32_t> categories;
    for (std::uint32_t bin : bins)
        if (bin > 0) categories.push_back(bin - 1);
    return categories;
}

struct BinningOptions {
    int max_bins = 255;
    std::size_t sample_rows = 200'000;
    std::uint64_t seed = 0;
};

// `categories[f]` is the number of levels of a categorical column f, 0 for a quantitative one.
std::vector<FeatureBins> learn_bins(const Table& table, std::span<const double> weights,
                                    std::span<const std::uint32_t> categories,
                                    const BinningOptions& options, Team& team);

struct BinKernels {
    // out[i] = 1 + #{edges below values[i]}, or 0 for NaN; `edges` has 256 entries, the last +inf.
    void (*bin_floats)(const float* values, std::size_t count, const float* edges,
                       std::uint8_t* out);
    void (*bin_doubles)(const double* values, std::size_t count, const double* edges,
                        std::uint8_t* out);
};
BOSQUET_DECLARE_KERNELS(BinKernels, bin_kernels)

// Converts the values of a column to bins, block by block.
class ColumnBinner {
  public:
    explicit ColumnBinner(const FeatureBins& bins);
    // `scratch` has at least `count` doubles. Exactly one of the outputs is written: `wide` for
    // wide features, else `narrow`.
    void bin(const Column& column, std::size_t begin, std::size_t count, const BinKernels& kernels,
             double* scratch, std::uint8_t* narrow, std::uint16_t* wide) const;

  private:
    const FeatureBins* bins_;
    std::vector<double> edges_;
    std::vector<float> float_edges_;
};

}  // namespace bosquet
