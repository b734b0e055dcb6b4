#include "data/binned.hpp"

#include <algorithm>
#include <memory>

namespace bosquet {

namespace {

constexpr std::uint32_t kTileFeatures = 32;

std::uint32_t stride_for(std::uint32_t features) {
    std::uint32_t stride = 4;
    while (stride < features) stride *= 2;
    return stride;
}

std::size_t round_up_to_64(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

Layout::Layout(std::span<const FeatureBins> bins, std::size_t rows, bool has_columns)
    : features(bins.size()), has_columns(has_columns) {
    std::uint32_t narrow = 0;
    for (std::uint32_t f = 0; f < bins.size(); ++f) {
        FeaturePlace& place = features[f];
        place.bins = bins[f].bins();
        place.categorical = bins[f].categorical;
        place.wide = bins[f].wide();
        place.active = bins[f].is_splittable();
        if (!place.active) continue;
        active.push_back(f);
        place.column = column_bytes;
        if (place.wide || has_columns) column_bytes += round_up_to_64(rows * (place.wide ? 2 : 1));
        if (place.wide) {
            wide.push_back(f);
            continue;
        }
        place.tile = narrow / kTileFeatures;
        place.slot = narrow % kTileFeatures;
        place.histogram = narrow * 256;
        ++narrow;
    }
    std::size_t offset = 0;
    for (std::uint32_t first = 0; first < narrow; first += kTileFeatures) {
        std::uint32_t count = std::min(kTileFeatures, narrow - first);
        tiles.push_back({offset, stride_for(count), count, first * 256});
        offset += round_up_to_64(rows * tiles.back().stride);
    }
    tile_bytes = offset;
    histogram_size = narrow * 256;
    for (std::uint32_t f : wide) {
        features[f].histogram = histogram_size;
        histogram_size += (features[f].bins + 7) / 8 * 8;
    }
}

BinnedMatrix::BinnedMatrix(const Table& table, std::span<const FeatureBins> bins, Isa isa,
                           Team& team)
    : BinnedMatrix(bins, table.rows, {}) {
    append(table, bins, isa, team);
}

BinnedMatrix::BinnedMatrix(std::span<const FeatureBins> bins, std::size_t rows,
                           const BinStorage& storage)
    : rows_(rows),
      max_column_copies_(storage.max_column_copies),
      layout_(bins, rows, storage.has_columns),
      tiles_(layout_.tile_bytes, storage.folder),
      columns_(layout_.column_bytes, storage.folder) {}

void BinnedMatrix::append(const Table& batch, std::span<const FeatureBins> bins, Isa isa,
                          Team& team) {
    std::vector<ColumnBinner> binners;
    binners.reserve(bins.size());
    for (const FeatureBins& feature : bins) binners.emplace_back(feature);
    const BinKernels& kernels = select_bin_kernels(isa);

    // A block of a row-major matrix fits into the second-level cache while its columns are read one
    // after the other.
    constexpr std::size_t kRows = 1024;
    std::size_t blocks = (batch.rows + kRows - 1) / kRows;
    auto fill = [&](std::size_t index, int) {
        fill_block(batch, binners, {index * kRows, std::min(batch.rows, (index + 1) * kRows)},
                   filled_rows_, kernels);
    };
    if (batch.rows * bins.size() >= 100'000)
        team.run(blocks, fill);
    else
        for (std::size_t index = 0; index < blocks; ++index) fill(index, 0);
    filled_rows_ += batch.rows;
}

void BinnedMatrix::fill_block(const Table& batch, std::span<const ColumnBinner> binners, Range rows,
                              std::size_t first_row, const BinKernels& kernels) {
    auto scratch = std::make_unique_for_overwrite<double[]>(rows.size());
    auto narrow = std::make_unique_for_overwrite<std::uint8_t[]>(rows.size());
    std::size_t begin = first_row + rows.begin;
    for (std::uint32_t f : layout_.active) {
        const FeaturePlace& place = layout_.features[f];
        std::uint8_t* column = columns_.data() + place.column;
        if (place.wide) {
            binners[f].bin(batch.columns[f], rows.begin, rows.size(), kernels, scratch.get(),
                           nullptr, reinterpret_cast<std::uint16_t*>(column) + begin);
            continue;
        }
        column = layout_.has_columns ? column + begin : narrow.get();
        binners[f].bin(batch.columns[f], rows.begin, rows.size(), kernels, scratch.get(), column,
                       nullptr);
        const Tile& tile = layout_.tiles[place.tile];
        std::uint8_t* cell = tiles_.data() + tile.offset + begin * tile.stride + place.slot;
        for (std::size_t i = 0; i < rows.size(); ++i) cell[i * tile.stride] = column[i];
    }
}

}  // namespace bosquet
