// Runs a cascade on all windows of an image at many scales, or on given windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/isa.hpp"
#include "vision/cascade.hpp"
#include "vision/grouping.hpp"
#include "vision/pyramid.hpp"

namespace bosquet {

struct ScanOptions {
    double scale_factor = 1.1;
    std::int32_t min_width = 0, min_height = 0;  // minimum size of an object
    std::int32_t max_width = 0, max_height = 0;  // maximum size; 0: the size of the image
    // Number of stages a reported window has to pass; default: all.
    std::uint32_t min_depth = UINT32_MAX;
    int threads = 1;
    Isa isa = Isa::baseline;
};

// A window that passed, in coordinates of its layer.
struct Hit {
    std::uint32_t layer;
    std::int32_t x, y;
    std::uint32_t depth;
    double sum;
};

struct Scan {
    std::vector<Layer> layers;
    std::vector<Hit> hits;  // layer by layer, row by row
    std::uint64_t visited = 0;
};

class Detector {
  public:
    explicit Detector(CascadeModel model);
    ~Detector();

    const CascadeModel& model() const { return model_; }

    // Safe to call from several threads at the same time.
    Scan scan(const GreyImage& image, const ScanOptions& options) const;

    // The number of stages that each of `count` contiguous images of the window's size passes (-1
    // for flat images), and the sum of the last stage that was evaluated.
    void depths(const std::uint8_t* images, std::size_t count, int threads, Isa isa,
                std::int32_t* depth, double* sum) const;

  private:
    struct Workspace;
    std::unique_ptr<Workspace> take_workspace() const;
    void return_workspace(std::unique_ptr<Workspace> workspace) const;

    CascadeModel model_;
    bool tilted_;
    // Buffers of previous calls, reused to avoid allocating memory again.
    mutable std::mutex mutex_;
    mutable std::vector<std::unique_ptr<Workspace>> idle_;
};

// The layers of the image pyramid, starting with the size of the window; the same scales as
// OpenCV's.
std::vector<Layer> pyramid_layers(const CascadeModel& model, std::int32_t width,
                                  std::int32_t height, const ScanOptions& options);

// The position of a hit in the image.
Detection window_of(const CascadeModel& model, const Layer& layer, const Hit& hit);

}  // namespace bosquet
