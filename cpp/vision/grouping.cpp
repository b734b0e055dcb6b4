#include "vision/grouping.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <numeric>

namespace bosquet {

namespace {

// Disjoint sets of items; each set is represented by its first item.
class DisjointSets {
  public:
    explicit DisjointSets(std::size_t size) : parent_(size) {
        std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    }
    std::size_t find(std::size_t item) {
        while (parent_[item] != item) {
            parent_[item] = parent_[parent_[item]];
            item = parent_[item];
        }
        return item;
    }
    void join(std::size_t a, std::size_t b) {
        a = find(a);
        b = find(b);
        if (a != b) parent_[std::max(a, b)] = std::min(a, b);
    }

  private:
    std::vector<std::size_t> parent_;
};

bool are_similar(const Box& a, const Box& b, double tolerance) {
    double delta = tolerance * (std::min(a.width, b.width) + std::min(a.height, b.height)) * 0.5;
    return std::abs(a.x - b.x) <= delta && std::abs(a.y - b.y) <= delta &&
           std::abs(a.x + a.width - b.x - b.width) <= delta &&
           std::abs(a.y + a.height - b.y - b.height) <= delta;
}

DisjointSets join_similar(const std::vector<Detection>& windows, double tolerance) {
    std::vector<std::size_t> order(windows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return windows[a].box.x < windows[b].box.x;
    });
    DisjointSets sets(windows.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Box& box = windows[order[i]].box;
        // Windows at a larger distance cannot be similar to this one.
        double max_distance = tolerance * (box.width + box.height) * 0.5;
        for (std::size_t j = i + 1; j < order.size(); ++j) {
            const Box& other = windows[order[j]].box;
            if (other.x - box.x > max_distance) break;
            if (are_similar(box, other, tolerance)) sets.join(order[i], order[j]);
        }
    }
    return sets;
}

std::int32_t nearest(double value) { return static_cast<std::int32_t>(std::nearbyint(value)); }

bool better(const Detection& a, const Detection& b) {
    return a.depth != b.depth ? a.depth > b.depth : a.sum > b.sum;
}

std::vector<Detection> averages(const std::vector<Detection>& windows, DisjointSets& sets) {
    struct Sums {
        std::int64_t x, y, width, height;
    };
    std::vector<std::size_t> group_of(windows.size());
    std::vector<Detection> out;
    std::vector<Sums> sums;
    for (std::size_t i = 0; i < windows.size(); ++i) {
        std::size_t first = sets.find(i);
        const Detection& window = windows[i];
        if (first == i) {
            group_of[i] = out.size();
            out.push_back(window);
            sums.push_back({window.box.x, window.box.y, window.box.width, window.box.height});
            out.back().neighbors = 1;
            continue;
        }
        Detection& group = out[group_of[first]];
        Sums& sum = sums[group_of[first]];
        sum.x += window.box.x;
        sum.y += window.box.y;
        sum.width += window.box.width;
        sum.height += window.box.height;
        ++group.neighbors;
        if (better(window, group)) group.depth = window.depth, group.sum = window.sum;
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
        // In single precision, as OpenCV does.
        float share = 1.0f / static_cast<float>(out[i].neighbors);
        auto mean = [&](std::int64_t sum) { return nearest(static_cast<float>(sum) * share); };
        out[i].box = {mean(sums[i].x), mean(sums[i].y), mean(sums[i].width), mean(sums[i].height)};
    }
    return out;
}

bool lies_in(const Detection& small, const Detection& large, double tolerance) {
    std::int32_t dx = nearest(large.box.width * tolerance);
    std::int32_t dy = nearest(large.box.height * tolerance);
    const Box &a = small.box, &b = large.box;
    return a.x >= b.x - dx && a.y >= b.y - dy && a.x + a.width <= b.x + b.width + dx &&
           a.y + a.height <= b.y + b.height + dy &&
           (large.neighbors > std::max(3, small.neighbors) || small.neighbors < 3);
}

}  // namespace

std::vector<Detection> group_windows(const std::vector<Detection>& windows,
                                     std::int32_t min_neighbors, double tolerance) {
    if (min_neighbors <= 0 || windows.empty()) return windows;
    DisjointSets sets = join_similar(windows, tolerance);
    std::vector<Detection> groups;
    for (const Detection& group : averages(windows, sets))
        if (group.neighbors > min_neighbors) groups.push_back(group);
    std::vector<Detection> out;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        bool inside = false;
        for (std::size_t j = 0; j < groups.size() && !inside; ++j)
            inside = j != i && lies_in(groups[i], groups[j], tolerance);
        if (!inside) out.push_back(groups[i]);
    }
    return out;
}

}  // namespace bosquet
