#include "vision/pyramid.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.hpp"

namespace bosquet {

Resampling::Resampling(std::int32_t from, std::int32_t to) : at(to), pairs(to) {
    // The centre of a pixel is half a pixel from its border, in both images.
    double scale = 1.0 / (static_cast<double>(to) / from);
    for (std::int32_t i = 0; i < to; ++i) {
        double position = scale * (i + 0.5) - 0.5;
        double before = std::floor(position);
        std::uint32_t second = 0;
        if (before < 0 || from == 1) {
            at[i] = 0;
        } else if (before >= from - 1) {
            at[i] = from - 1;
        } else {
            at[i] = static_cast<std::int32_t>(before);
            second = static_cast<std::uint32_t>(std::nearbyint((position - before) * 256));
        }
        pairs[i] = (256 - second) | second << 16;
    }
}

void resize_row(const GreyImage& image, const Resampling& columns, const Resampling& rows,
                std::int32_t y, const DetectKernels& kernels, std::uint16_t* blended,
                std::uint8_t* out) {
    // Rows are blended before columns. There is no rounding in between, so that the order does not
    // matter, and this one is faster because a source row is read sequentially.
    const std::uint8_t* above = image.row(rows.at[y]);
    const std::uint8_t* below = image.row(std::min<std::size_t>(rows.at[y] + 1, image.height - 1));
    kernels.blend_rows(above, below, rows.pairs[y] & 65535, rows.pairs[y] >> 16, image.width,
                       blended);
    blended[image.width] = 0;
    kernels.resample_row(blended, columns.at.data(), columns.pairs.data(), columns.at.size(), out);
}

void Pyramid::plan(std::vector<Layer> layers, bool tilted) {
    layers_ = std::move(layers);
    tilted_ = tilted;
    std::int32_t widest[2] = {0, 0};
    std::int64_t rows[2] = {0, 0};
    for (Layer& layer : layers_) {
        layer.arena = layer.step == 2 ? 1 : 0;
        widest[layer.arena] = std::max(widest[layer.arena], layer.width + 1);
    }
    for (int arena = 0; arena < 2; ++arena) {
        // Even, so that both halves have the same width, and not a multiple of a large power of
        // two, which would map the corners of a tall box to the same cache lines.
        std::int32_t stride = (widest[arena] + 15) / 16 * 16;
        if (stride % 256 == 0 && stride > 0) stride += 16;
        arenas_[arena].layout.step = arena + 1;
        arenas_[arena].layout.stride = stride;
    }
    for (Layer& layer : layers_) {
        layer.begin = rows[layer.arena] * arenas_[layer.arena].layout.stride;
        rows[layer.arena] += layer.height + 1;
    }
    for (int arena = 0; arena < 2; ++arena) {
        Arena& space = arenas_[arena];
        std::int64_t plane = rows[arena] * space.layout.stride;
        std::int64_t size = plane * (tilted ? 3 : 2);
        if (size > INT32_MAX)
            throw InputError("the image pyramid has " + std::to_string(size) +
                             " entries, but at most 2^31 - 1 are supported; pass a smaller image");
        space.layout.plane = static_cast<std::int32_t>(plane);
        if (space.entries.size() < static_cast<std::size_t>(size))
            space.entries = Buffer<std::uint32_t>(static_cast<std::size_t>(size));
    }
}

void Pyramid::store(std::uint32_t* out, const ScanLayout& layout,
                    const std::vector<std::uint32_t>& row, const DetectKernels& kernels) const {
    if (layout.step == 2)
        kernels.split_columns(row.data(), row.size(), out, out + layout.half());
    else
        std::memcpy(out, row.data(), row.size() * sizeof row[0]);
}

void Pyramid::fill(std::size_t layer_index, const GreyImage& image, const DetectKernels& kernels,
                   LayerRows& rows) {
    const Layer& layer = layers_[layer_index];
    const ScanLayout& layout = arenas_[layer.arena].layout;
    std::uint32_t* out = arenas_[layer.arena].entries.data() + layer.begin;
    auto image_width = static_cast<std::int32_t>(image.width);
    auto image_height = static_cast<std::int32_t>(image.height);
    bool same = layer.width == image_width && layer.height == image_height;
    Resampling across(image_width, layer.width), down(image_height, layer.height);
    std::size_t width = static_cast<std::size_t>(layer.width), entries = width + 1;
    rows.blended.resize(image.width + 2);
    rows.pixels.assign(width, 0);
    rows.pixels_above.assign(width, 0);
    for (auto* row :
         {&rows.sums, &rows.squares, &rows.tilted, &rows.tilted_above, &rows.tilted_twice_above})
        row->assign(entries, 0);
    for (std::int32_t y = 0; y <= layer.height; ++y, out += layout.stride) {
        if (y > 0) {
            std::swap(rows.pixels, rows.pixels_above);
            if (same)
                std::memcpy(rows.pixels.data(), image.row(y - 1), width);
            else
                resize_row(image, across, down, y - 1, kernels, rows.blended.data(),
                           rows.pixels.data());
            kernels.integrate_row(rows.pixels.data(), width, rows.sums.data(), rows.squares.data());
        }
        store(out, layout, rows.sums, kernels);
        store(out + layout.squares(tilted_), layout, rows.squares, kernels);
        if (!tilted_) continue;
        if (y > 0) {
            std::swap(rows.tilted_twice_above, rows.tilted_above);
            std::swap(rows.tilted_above, rows.tilted);
            kernels.tilt_row(rows.pixels.data(), rows.pixels_above.data(), width,
                             rows.tilted_above.data(), rows.tilted_twice_above.data(),
                             rows.tilted.data());
        }
        store(out + layout.plane, layout, rows.tilted, kernels);
    }
}

}  // namespace bosquet
