#include "vision/detect.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.hpp"
#include "parallel/team.hpp"

namespace bosquet {

namespace {

std::int32_t nearest(double value) { return static_cast<std::int32_t>(std::nearbyint(value)); }

// Rows of windows per task.
constexpr std::int32_t kTaskRows = 16;

struct Task {
    std::uint32_t layer;
    std::int32_t begin, end;  // rows, in pixels
};

// OpenCV divides the rows of windows into strips and rounds down to whole steps; the last row may
// then never be visited. This is the row at which its search ends.
std::int32_t last_row(const CascadeModel& model, const std::vector<Layer>& layers,
                      const Layer& layer) {
    std::int32_t strips = std::max((layers[0].width + 1 - model.width + 31) / 32, 1);
    std::int32_t rows = std::max(layer.height + 1 - model.height, 0);
    std::int32_t strip = std::max((rows / layer.step + strips - 1) / strips, 1) * layer.step;
    return static_cast<std::int32_t>(
        std::min<std::int64_t>(static_cast<std::int64_t>(strip) * strips, rows));
}

std::vector<Task> tasks_of(const CascadeModel& model, const std::vector<Layer>& layers) {
    std::vector<Task> tasks;
    for (std::uint32_t l = 0; l < layers.size(); ++l) {
        std::int32_t end = last_row(model, layers, layers[l]);
        std::int32_t rows = kTaskRows * layers[l].step;
        for (std::int32_t y = 0; y < end; y += rows)
            tasks.push_back({l, y, std::min(y + rows, end)});
    }
    return tasks;
}

}  // namespace

struct Detector::Workspace {
    Pyramid pyramid;
    std::vector<LayerRows> rows;
    std::unique_ptr<CompiledCascade> compiled[2];
    ScanLayout compiled_for[2] = {};

    const ScanCascade& cascade(const CascadeModel& model, std::int32_t arena) {
        const ScanLayout& layout = pyramid.layout(arena);
        const ScanLayout& compiled_layout = compiled_for[arena];
        if (!compiled[arena] || layout.stride != compiled_layout.stride ||
            layout.plane != compiled_layout.plane) {
            compiled[arena] = std::make_unique<CompiledCascade>(model, layout);
            compiled_for[arena] = layout;
        }
        return compiled[arena]->scan;
    }
};

Detector::Detector(CascadeModel model) : model_(std::move(model)) {
    model_.check();
    tilted_ = model_.has_tilted();
}

Detector::~Detector() = default;

std::unique_ptr<Detector::Workspace> Detector::take_workspace() const {
    // Never wait for the mutex: a fork may have copied it while another thread held it.
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || idle_.empty()) return std::make_unique<Workspace>();
    auto workspace = std::move(idle_.back());
    idle_.pop_back();
    return workspace;
}

void Detector::return_workspace(std::unique_ptr<Workspace> workspace) const {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock && idle_.size() < 2) idle_.push_back(std::move(workspace));
}

std::vector<Layer> pyramid_layers(const CascadeModel& model, std::int32_t width,
                                  std::int32_t height, const ScanOptions& options) {
    std::vector<float> fitting;
    for (double factor = 1; fitting.size() < 4096; factor *= options.scale_factor) {
        // Compared as doubles, because a factor may be too large for integers.
        if (std::nearbyint(model.width * factor) > width ||
            std::nearbyint(model.height * factor) > height)
            break;
        fitting.push_back(static_cast<float>(factor));
    }
    std::int32_t max_width = options.max_width, max_height = options.max_height;
    if (max_width == 0 || max_height == 0) max_width = width, max_height = height;
    std::vector<float> scales;
    for (float scale : fitting) {
        std::int32_t w = nearest(static_cast<float>(model.width) * scale);
        std::int32_t h = nearest(static_cast<float>(model.height) * scale);
        if (w > max_width || h > max_height) break;
        if (w >= options.min_width && h >= options.min_height) scales.push_back(scale);
    }
    if (scales.empty() && !fitting.empty()) {
        // No scale lies between the two sizes: use the nearest one.
        auto distance = [&](float scale) {
            double w = options.min_width - nearest(static_cast<float>(model.width) * scale);
            double h = options.min_height - nearest(static_cast<float>(model.height) * scale);
            return w * w + h * h;
        };
        scales.push_back(*std::min_element(fitting.begin(), fitting.end(), [&](float a, float b) {
            return distance(a) < distance(b);
        }));
    }
    std::vector<Layer> layers;
    for (float scale : scales)
        layers.push_back({scale, nearest(static_cast<float>(width) / scale),
                          nearest(static_cast<float>(height) / scale), scale >= 2 ? 1 : 2, 0, 0});
    return layers;
}

Detection window_of(const CascadeModel& model, const Layer& layer, const Hit& hit) {
    auto scaled = [&](std::int32_t value) {
        return nearest(static_cast<float>(value) * layer.scale);
    };
    return {{scaled(hit.x), scaled(hit.y), scaled(model.width), scaled(model.height)},
            1,
            hit.depth,
            hit.sum};
}

Scan Detector::scan(const GreyImage& image, const ScanOptions& options) const {
    Scan out;
    out.layers = pyramid_layers(model_, static_cast<std::int32_t>(image.width),
                                static_cast<std::int32_t>(image.height), options);
    if (out.layers.empty()) return out;
    const DetectKernels& kernels = select_detect_kernels(options.isa);
    auto workspace = take_workspace();
    Pyramid& pyramid = workspace->pyramid;
    pyramid.plan(out.layers, tilted_);
    out.layers = pyramid.layers();
    Team team(options.threads);
    workspace->rows.resize(static_cast<std::size_t>(team.size()));
    team.run(out.layers.size(), [&](std::size_t layer, int worker) {
        pyramid.fill(layer, image, kernels, workspace->rows[static_cast<std::size_t>(worker)]);
    });

    const ScanCascade* cascade[2] = {nullptr, nullptr};
    for (const Layer& layer : out.layers)
        if (cascade[layer.arena] == nullptr)
            cascade[layer.arena] = &workspace->cascade(model_, layer.arena);
    std::uint32_t min_depth =
        std::min(options.min_depth, static_cast<std::uint32_t>(model_.stage_size.size()));
    std::vector<Task> tasks = tasks_of(model_, out.layers);
    std::vector<std::vector<Hit>> hits_of_task(tasks.size());
    std::vector<std::uint64_t> visited(tasks.size());
    team.run(tasks.size(), [&](std::size_t task_index, int) {
        const Task& task = tasks[task_index];
        const Layer& layer = out.layers[task.layer];
        std::int32_t stride = pyramid.layout(layer.arena).stride;
        std::size_t count = static_cast<std::size_t>(
            (layer.width + 1 - model_.width + layer.step - 1) / layer.step);
        std::vector<RowHit> row(count);
        std::uint64_t evaluated = 0;
        for (std::int32_t y = task.begin; y < task.end; y += layer.step) {
            const std::int32_t* first =
                pyramid.entries(layer) + static_cast<std::int64_t>(y) * stride;
            std::size_t hits = kernels.scan_row(*cascade[layer.arena], first, count, min_depth,
                                                row.data(), &evaluated);
            for (std::size_t i = 0; i < hits; ++i)
                hits_of_task[task_index].push_back(
                    {task.layer, static_cast<std::int32_t>(row[i].index) * layer.step, y,
                     row[i].depth, row[i].sum});
        }
        visited[task_index] = evaluated;
    });
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        out.hits.insert(out.hits.end(), hits_of_task[i].begin(), hits_of_task[i].end());
        out.visited += visited[i];
    }
    return_workspace(std::move(workspace));
    return out;
}

void Detector::depths(const std::uint8_t* images, std::size_t count, int threads, Isa isa,
                      std::int32_t* depth, double* sum) const {
    const DetectKernels& kernels = select_detect_kernels(isa);
    constexpr std::size_t kImages = 64;  // images per task
    auto width = static_cast<std::size_t>(model_.width);
    auto height = static_cast<std::size_t>(model_.height);
    Layer whole{1.0f, model_.width, model_.height, 1, 0, 0};
    Pyramid plan;
    plan.plan({whole}, tilted_);
    CompiledCascade cascade(model_, plan.layout(0));
    Team team(threads);
    team.run((count + kImages - 1) / kImages, [&](std::size_t task, int) {
        Pyramid pyramid;
        pyramid.plan({whole}, tilted_);
        LayerRows rows;
        std::size_t end = std::min(count, (task + 1) * kImages);
        for (std::size_t i = task * kImages; i < end; ++i) {
            GreyImage image{images + i * width * height, width, height, model_.width};
            pyramid.fill(0, image, kernels, rows);
            RowHit hit;
            std::uint64_t visited = 0;
            bool flat = kernels.scan_row(cascade.scan, pyramid.entries(pyramid.layers()[0]), 1, 0,
                                         &hit, &visited) == 0;
            depth[i] = flat ? -1 : static_cast<std::int32_t>(hit.depth);
            sum[i] = flat ? 0.0 : hit.sum;
        }
    });
}

}  // namespace bosquet
