#include "grow/histograms.hpp"

#include <algorithm>
#include <cstring>

#include "base/interrupt.hpp"
#include "grow/chunks.hpp"

namespace bosquet {

namespace {

// Approximate time per node in nanoseconds, not counting its rows; for check_interrupt.
constexpr std::size_t kNanosecondsPerNode = 4096;

}  // namespace

HistogramBuilder::HistogramBuilder(const BinnedMatrix& matrix, const GrowKernels& kernels,
                                   int workers)
    : matrix_(&matrix), kernels_(&kernels), worker_histograms_(workers), worker_used_(workers) {}

PackedGradient* HistogramBuilder::acquire() {
    if (free_.empty()) {
        buffers_.emplace_back(matrix_->layout().histogram_size);
        return buffers_.back().data();
    }
    PackedGradient* histogram = free_.back();
    free_.pop_back();
    return histogram;
}

void HistogramBuilder::release(PackedGradient* histogram) {
    if (histogram != nullptr) free_.push_back(histogram);
}

void HistogramBuilder::build_feature(std::uint32_t feature, RowSet rows,
                                     const PackedGradient* gradients,
                                     PackedGradient* histogram) const {
    const FeaturePlace& place = matrix_->layout().features[feature];
    PackedGradient* entries = histogram + place.histogram;
    std::fill_n(entries, place.bins, PackedGradient{0});
    auto add = [&](auto column) {
        for (std::size_t i = 0; i < rows.count; ++i) {
            std::size_t row = rows.row(i);
            entries[column[row]] += gradients[row];
        }
    };
    if (place.wide)
        add(matrix_->wide_column(place));
    else
        add(matrix_->column(place));
}

void HistogramBuilder::build(RowSet rows, const PackedGradient* gradients,
                             PackedGradient* histogram, Team* team) {
    std::size_t tiles_and_wide = matrix_->layout().tiles.size() + matrix_->layout().wide.size();
    if (team == nullptr || tiles_and_wide >= 4 * static_cast<std::size_t>(team->size()))
        build_by_tile(rows, gradients, histogram, team);
    else
        build_by_rows(rows, gradients, histogram, *team);
}

// One thread per tile, so that there are no private histograms to add. The wide features come after
// the tiles, as one task.
void HistogramBuilder::build_by_tile(RowSet rows, const PackedGradient* gradients,
                                     PackedGradient* histogram, Team* team) const {
    const Layout& layout = matrix_->layout();
    auto build_tile = [&](std::size_t tile, int) {
        clear(histogram, tile);
        if (tile < layout.tiles.size())
            add_tile(tile, rows, gradients, histogram);
        else
            add_wide(rows, gradients, histogram);
    };
    std::size_t tasks = layout.tiles.size() + !layout.wide.empty();
    if (team != nullptr) {
        team->run(tasks, build_tile);
        return;
    }
    for (std::size_t tile = 0; tile < tasks; ++tile) {
        check_interrupt(16 * rows.count + kNanosecondsPerNode);
        build_tile(tile, 0);
    }
}

// The rows are divided among the threads. Worker 0 adds to `histogram`, each other worker to a
// private histogram.
void HistogramBuilder::build_by_rows(RowSet rows, const PackedGradient* gradients,
                                     PackedGradient* histogram, Team& team) {
    const Layout& layout = matrix_->layout();
    std::fill(worker_used_.begin(), worker_used_.end(), 0);
    team.run(chunk_count(rows.count), [&](std::size_t chunk, int worker) {
        PackedGradient* into = histogram;
        if (worker > 0) {
            if (worker_histograms_[worker].size() == 0)
                worker_histograms_[worker] = Buffer<PackedGradient>(layout.histogram_size);
            into = worker_histograms_[worker].data();
        }
        if (!worker_used_[worker]) clear_all(into);
        worker_used_[worker] = 1;
        RowSet chunk_rows = chunk_of(rows, chunk);
        for (std::size_t tile = 0; tile < layout.tiles.size(); ++tile)
            add_tile(tile, chunk_rows, gradients, into);
        add_wide(chunk_rows, gradients, into);
    });
    if (!worker_used_[0]) clear_all(histogram);
    for (int worker = 1; worker < team.size(); ++worker) {
        if (!worker_used_[worker]) continue;
        for (std::uint32_t f : layout.active) {
            const FeaturePlace& place = layout.features[f];
            kernels_->add(histogram + place.histogram,
                          worker_histograms_[worker].data() + place.histogram, place.bins);
        }
    }
}

void HistogramBuilder::add_tile(std::size_t tile, RowSet rows, const PackedGradient* gradients,
                                PackedGradient* histogram) const {
    const Tile& place = matrix_->layout().tiles[tile];
    kernels_->tile_histogram(matrix_->tile(place), place.stride, place.features, rows, gradients,
                             histogram + place.histogram);
}

void HistogramBuilder::add_wide(RowSet rows, const PackedGradient* gradients,
                                PackedGradient* histogram) const {
    for (std::uint32_t f : matrix_->layout().wide) {
        const FeaturePlace& place = matrix_->layout().features[f];
        kernels_->wide_histogram(matrix_->wide_column(place), rows, gradients,
                                 histogram + place.histogram);
    }
}

// Clears the features of a tile; the number after the last tile stands for the wide features.
void HistogramBuilder::clear(PackedGradient* histogram, std::size_t tile) const {
    const Layout& layout = matrix_->layout();
    for (std::uint32_t f : layout.active) {
        const FeaturePlace& place = layout.features[f];
        if (place.wide ? tile == layout.tiles.size() : place.tile == tile)
            std::memset(histogram + place.histogram, 0, place.bins * sizeof(PackedGradient));
    }
}

void HistogramBuilder::clear_all(PackedGradient* histogram) const {
    for (std::size_t tile = 0; tile <= matrix_->layout().tiles.size(); ++tile)
        clear(histogram, tile);
}

}  // namespace bosquet
