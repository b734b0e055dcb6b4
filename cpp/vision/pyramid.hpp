// An image at several sizes, each as integral images that a cascade's windows are cut from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/buffer.hpp"
#include "vision/cascade.hpp"
#include "vision/detect_kernels.hpp"

namespace bosquet {

struct Picture {
    const std::uint8_t* pixels;
    std::int32_t width, height;
    std::ptrdiff_t stride;  // bytes from a row to the next

    const std::uint8_t* row(std::int32_t y) const { return pixels + y * stride; }
};

// Where each row (or column) of a smaller image comes from: two neighbours and their weights, in
// 256ths. This is OpenCV's INTER_LINEAR_EXACT, whose results are the same on every machine.
struct Resampling {
    std::vector<std::int32_t> at;
    std::vector<std::uint32_t> pairs;  // weight of the first | weight of the second << 16

    Resampling(std::int32_t from, std::int32_t to);
};

// Rows that a thread needs while it fills a layer.
struct LayerRows {
    std::vector<std::uint16_t> blended;
    std::vector<std::uint8_t> pixels, pixels_above;
    std::vector<std::uint32_t> sums, squares, tilted, tilted_above, tilted_twice_above;
};

// Row `y` of the image at another size; `blended` has room for a source row and two more.
void resized_row(const Picture& image, const Resampling& columns, const Resampling& rows,
                 std::int32_t y, const DetectKernels& kernels, std::uint16_t* blended,
                 std::uint8_t* out);

struct Layer {
    float scale;
    std::int32_t width, height;  // of the smaller image
    std::int32_t step;           // between windows
    std::int32_t arena;          // which layout: 0 for steps of one, 1 for steps of two
    std::int64_t begin;          // its first entry in the arena
};

// Layers of one step share an arena, and so a stride: a cascade's corners are placed once for all.
class Pyramid {
  public:
    // Lays the layers out; what was allocated before is used again.
    void plan(std::vector<Layer> layers, bool tilted);
    void fill(std::size_t layer, const Picture& image, const DetectKernels& kernels,
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
