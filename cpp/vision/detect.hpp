// A cascade at work: every window of an image at many scales, or windows that are given.
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
    std::int32_t min_width = 0, min_height = 0;  // of an object
    std::int32_t max_width = 0, max_height = 0;  // 0: the image's
    std::uint32_t min_depth = UINT32_MAX;        // stages to pass to be reported; all by default
    int threads = 1;
    Isa isa = Isa::baseline;
};

// A window that passed, in the image at the layer's size.
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

    // Safe to be called by several threads at a time.
    Scan scan(const Picture& image, const ScanOptions& options) const;

    // How many stages each of `count` images of the window's size passes, one behind the other; -1
    // where it is flat. And the sum of the last stage that it was put to.
    void depths(const std::uint8_t* images, std::size_t count, int threads, Isa isa,
                std::int32_t* depth, double* sum) const;

  private:
    struct Workspace;
    std::unique_ptr<Workspace> take_workspace() const;
    void give_back(std::unique_ptr<Workspace> workspace) const;

    CascadeModel model_;
    bool tilted_;
    // Integral images of the last calls: touching fresh memory would take longer than the scan.
    mutable std::mutex mutex_;
    mutable std::vector<std::unique_ptr<Workspace>> idle_;
};

// The scales of a search, from the window's own size on; OpenCV's ladder.
std::vector<Layer> scale_ladder(const CascadeModel& model, std::int32_t width, std::int32_t height,
                                const ScanOptions& options);

// Where a hit lies in the image.
Detection window_of(const CascadeModel& model, const Layer& layer, const Hit& hit);

}  // namespace bosquet
