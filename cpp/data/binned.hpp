// The binned matrix, stored twice: row-major in tiles for histograms (the bins of a row share a
// cache line) and column-major for partitioning (a split reads one column). The second copy may be
// left out to save memory; a split then reads its bins from the tiles.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "data/binning.hpp"
#include "data/narrow_column.hpp"

namespace bosquet {

// Where a feature is stored. Narrow features are in tiles and have 256 histogram entries each. Wide
// features (more than 255 levels) are stored only as a column of two bytes per row, and have as
// many histogram entries as bins.
struct FeaturePlace {
    std::uint32_t bins = 0;
    std::uint32_t histogram = 0;  // first entry in a node's histogram
    std::uint32_t tile = 0;
    std::uint32_t slot = 0;  // byte within a row of the tile
    std::size_t column = 0;  // first byte of the column
    bool active = false;     // whether the feature can be split; inactive features are not stored
    bool categorical = false;
    bool wide = false;

    bool operator==(const FeaturePlace&) const = default;
};

struct Tile {
    std::size_t offset = 0;    // first byte
    std::uint32_t stride = 0;  // bytes per row: 4, 8, 16 or 32, so that no row crosses a cache line
    std::uint32_t features = 0;   // number of bytes of the stride that are used
    std::uint32_t histogram = 0;  // first entry in a node's histogram
};

struct Layout {
    std::vector<FeaturePlace> features;
    std::vector<std::uint32_t> active;  // active features in order
    std::vector<std::uint32_t> wide;    // wide active features
    std::vector<Tile> tiles;
    std::uint32_t histogram_size = 0;
    std::size_t column_bytes = 0, tile_bytes = 0;
    bool has_columns = true;  // whether narrow features are stored as columns too

    Layout() = default;
    Layout(std::span<const FeatureBins> bins, std::size_t rows, bool has_columns = true);
};

// Where the bins are stored.
struct BinStorage {
    bool has_columns = true;  // whether narrow features are stored column-major too
    std::string folder;       // of a temporary file; empty: in memory
    // Without columns: how many narrow features a fit may copy (grow/column_copies.hpp).
    std::size_t max_column_copies = 0;
};

class BinnedMatrix {
  public:
    BinnedMatrix() = default;
    BinnedMatrix(const Table& table, std::span<const FeatureBins> bins, Isa isa, Team& team);
    // A matrix whose rows are appended later.
    BinnedMatrix(std::span<const FeatureBins> bins, std::size_t rows, const BinStorage& storage);

    // Bins the next rows of the matrix.
    void append(const Table& batch, std::span<const FeatureBins> bins, Isa isa, Team& team);

    std::size_t rows() const { return rows_; }
    // The rows that have been binned so far.
    std::size_t filled_rows() const { return filled_rows_; }
    const Layout& layout() const { return layout_; }
    std::size_t max_column_copies() const { return max_column_copies_; }
    const std::uint8_t* tile(const Tile& tile) const { return tiles_.data() + tile.offset; }
    NarrowColumn column(const FeaturePlace& place) const {
        if (layout_.has_columns) return {contiguous_column(place), 1};
        const Tile& owner = layout_.tiles[place.tile];
        return {tile(owner) + place.slot, owner.stride};
    }
    // For matrices that have the column-major copy.
    const std::uint8_t* contiguous_column(const FeaturePlace& place) const {
        return columns_.data() + place.column;
    }
    const std::uint16_t* wide_column(const FeaturePlace& place) const {
        return reinterpret_cast<const std::uint16_t*>(contiguous_column(place));
    }
    // The bin of one row, read from the row-major copy.
    std::uint32_t bin(const FeaturePlace& place, std::size_t row) const {
        if (place.wide) return wide_column(place)[row];
        const Tile& owner = layout_.tiles[place.tile];
        return tiles_[owner.offset + row * owner.stride + place.slot];
    }

  private:
    // Bins rows of the batch, whose first row is row `first_row` of the matrix.
    void fill_block(const Table& batch, std::span<const ColumnBinner> binners, Range rows,
                    std::size_t first_row, const BinKernels& kernels);

    std::size_t rows_ = 0, filled_rows_ = 0;
    std::size_t max_column_copies_ = 0;
    Layout layout_;
    Buffer<std::uint8_t> tiles_;
    Buffer<std::uint8_t> columns_;
};

}  // namespace bosquet
