// Builds the histograms of nodes: the sums of gradients by feature and bin.
#pragma once

#include <cstdint>
#include <vector>

#include "base/buffer.hpp"
#include "data/binned.hpp"
#include "grow/kernels.hpp"
#include "parallel/team.hpp"

namespace bosquet {

class HistogramBuilder {
  public:
    HistogramBuilder(const BinnedMatrix& matrix, const GrowKernels& kernels, int workers);

    // Uses another matrix with the same layout.
    void set_matrix(const BinnedMatrix& matrix) { matrix_ = &matrix; }

    // Returns a buffer for one histogram, which belongs to the builder; its contents are undefined.
    PackedGradient* acquire();
    // Takes back a buffer; does nothing for nullptr.
    void release(PackedGradient* histogram);

    // Sums the gradients of the rows into `histogram`. Without a team the calling thread does all
    // the work, and several threads may call at the same time.
    void build(RowSet rows, const PackedGradient* gradients, PackedGradient* histogram, Team* team);
    // The same for the entries of one feature; the others are left as they are.
    void build_feature(std::uint32_t feature, RowSet rows, const PackedGradient* gradients,
                       PackedGradient* histogram) const;

  private:
    void build_by_tile(RowSet rows, const PackedGradient* gradients, PackedGradient* histogram,
                       Team* team) const;
    void build_by_rows(RowSet rows, const PackedGradient* gradients, PackedGradient* histogram,
                       Team& team);
    void add_tile(std::size_t tile, RowSet rows, const PackedGradient* gradients,
                  PackedGradient* histogram) const;
    void add_wide(RowSet rows, const PackedGradient* gradients, PackedGradient* histogram) const;
    void clear(PackedGradient* histogram, std::size_t tile) const;
    void clear_all(PackedGradient* histogram) const;

    const BinnedMatrix* matrix_;
    const GrowKernels* kernels_;
    std::vector<Buffer<PackedGradient>> buffers_;
    std::vector<PackedGradient*> free_;
    std::vector<Buffer<PackedGradient>>
        worker_histograms_;  // private histograms of all workers but 0
    std::vector<std::uint8_t> worker_used_;
};

}  // namespace bosquet
