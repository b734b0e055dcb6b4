// An image pyramid: integral images of an image at several sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/buffer.hpp"
#include "vision/cascade.hpp"
#include "vision/detect_kernels.hpp"
#include "vision/grey_image.hpp"

namespace bosquet {

// The source of each row (or column) of a resized image: two neighbours and their weights, in
// 256ths. This is OpenCV's INTER_LINEAR_EXACT, whose results are the same on every machine.
struct Resampling {
    std::vector<std::int32_t> at;
    std::vector<std::uint32_t> pairs;  // weight of the first | weight of the second << 16

    Resampling(std::int32_t from, std::int32_t to);
};

// The row buffers of a thread that fills a layer.
struct LayerRows {
    std::vector<std::uint16_t> blended;
    std::vector<std::uint8_t> pixels, pixels_above;
    std::vector<std::uint32_t> sums, squares, tilted, tilted_above, tilted_twice_above;
};

// Computes row `y` of the resized image; `blended` has space for a source row and two more entries.
void resize_row(const GreyImage& image, const Resampling& columns, const Resampling& rows,
                std::int32_t y, const DetectKernels& kernels, std::uint16_t* blended,
                std::uint8_t* out);

struct Layer {
    float scale;
    std::int32_t width, height;  // size of the resized image
    std::int32_t step;           // distance between windows
    std::int32_t arena;          // layout: 0 for step 1, 1 for step 2
    std::int64_t begin;          // first entry in the arena
};

// Layers with the same step share an arena and therefore a stride, so that a cascade is compiled
// once for all of them.
class Pyramid {
  public:
    // Computes the layout of the layers; memory from earlier calls is reused.
    void plan(std::vector<Layer> layers, bool tilted);
    void fill(std::size_t layer, const GreyImage& image, const DetectKernels& kernels,
              LayerRows& rows);

    const std::vector<Layer>& layers() const { return layers_; }
    const ScanLayout& layout(std::int32_t arena) const { return arenas_[arena].layout; }
    const std::int32_t* entries(const Layer& layer) const {
        return reinterpret_cast<const std::int32_t*>(arenas_[layer.arena].entries.data()) +
               layer.begin;
    }

  private:
    struct Arena {
        ScanLayout layout{};
        Buffer<std::uint32_t> entries;
    };
    void store(std::uint32_t* out, const ScanLayout& layout, const std::vector<std::uint32_t>& row,
               const DetectKernels& kernels) const;

    std::vector<Layer> layers_;
    Arena arenas_[2];
    bool tilted_ = false;
};

}  // namespace bosquet
