#include "io/leaves.hpp"

#include <algorithm>
#include <cmath>

namespace bosquet {

namespace {

bool ascend(std::span<const double> a, std::span<const double> b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), precedes);
}

}  // namespace

bool precedes(double a, double b) { return a < b || (a == b && std::signbit(a) > std::signbit(b)); }

void make_distinct(std::vector<double>& numbers) {
    std::sort(numbers.begin(), numbers.end(), precedes);
    auto are_equal = [](double a, double b) { return !precedes(a, b); };
    numbers.erase(std::unique(numbers.begin(), numbers.end(), are_equal), numbers.end());
}

LeafWriter::LeafWriter(const Ensemble& ensemble)
    : ensemble_(&ensemble), flags_(ensemble.vector_leaves ? kVectorLeaves : 0) {
    if (ensemble.vector_leaves && ensemble.outputs <= kMaxListedOutputs) list_vectors();
    list_numbers();
}

bool LeafWriter::vector_precedes(const double* a, const double* b) const {
    return ascend({a, ensemble_->outputs}, {b, ensemble_->outputs});
}

// A list saves space if at most half of the references to it are distinct. The leaves of each tree
// are made distinct first, because most values repeat within a tree.
void LeafWriter::list_vectors() {
    auto in_order = [&](const double* a, const double* b) { return vector_precedes(a, b); };
    auto are_equal = [&](const double* a, const double* b) { return !vector_precedes(a, b); };
    auto distinct_from = [&](std::size_t begin) {
        auto first = vectors_.begin() + static_cast<std::ptrdiff_t>(begin);
        std::sort(first, vectors_.end(), in_order);
        vectors_.erase(std::unique(first, vectors_.end(), are_equal), vectors_.end());
    };
    std::size_t leaves = 0;
    for (const Tree& tree : ensemble_->trees) {
        std::size_t begin = vectors_.size();
        for (const Node& node : tree.nodes)
            if (node.is_leaf()) vectors_.push_back(ensemble_->values_of(tree, node).data());
        leaves += vectors_.size() - begin;
        distinct_from(begin);
    }
    distinct_from(0);
    if (!vectors_.empty() && 2 * vectors_.size() <= leaves)
        flags_ |= kListedVectors;
    else
        vectors_.clear();
}

void LeafWriter::list_numbers() {
    std::size_t written = 0;
    auto add = [&](std::span<const double> values) {
        numbers_.insert(numbers_.end(), values.begin(), values.end());
        written += values.size();
    };
    if (flags_ & kListedVectors) {
        for (const double* vector : vectors_) add({vector, ensemble_->outputs});
    } else {
        std::vector<double> distinct;
        for (const Tree& tree : ensemble_->trees) {
            numbers_.clear();
            for (const Node& node : tree.nodes)
                if (node.is_leaf()) add(ensemble_->values_of(tree, node));
            make_distinct(numbers_);
            distinct.insert(distinct.end(), numbers_.begin(), numbers_.end());
        }
        numbers_ = std::move(distinct);
    }
    make_distinct(numbers_);
    if (!numbers_.empty() && 2 * numbers_.size() <= written)
        flags_ |= kListedNumbers;
    else
        numbers_.clear();
}

void LeafWriter::write_lists(ByteWriter& out) const {
    if (flags_ & kListedNumbers) {
        out.write_varint(numbers_.size());
        for (double number : numbers_) out.write_real64(number);
    }
    if (flags_ & kListedVectors) {
        out.write_varint(vectors_.size());
        for (const double* vector : vectors_)
            for (std::size_t k = 0; k < ensemble_->outputs; ++k) write_number(vector[k], out);
    }
}

void LeafWriter::write_number(double number, ByteWriter& out) const {
    if (!(flags_ & kListedNumbers)) return out.write_real64(number);
    auto position = std::lower_bound(numbers_.begin(), numbers_.end(), number, precedes);
    out.write_varint(static_cast<std::uint64_t>(position - numbers_.begin()));
}

void LeafWriter::write(const Tree& tree, const Node& leaf, ByteWriter& out) const {
    std::span<const double> values = ensemble_->values_of(tree, leaf);
    if (flags_ & kListedVectors) {
        auto in_order = [&](const double* a, const double* b) { return vector_precedes(a, b); };
        auto position = std::lower_bound(vectors_.begin(), vectors_.end(), values.data(), in_order);
        out.write_varint(static_cast<std::uint64_t>(position - vectors_.begin()));
        return;
    }
    for (double value : values) write_number(value, out);
}

LeafReader::LeafReader(std::uint64_t flags, std::size_t outputs)
    : flags_(flags), outputs_(outputs) {
    if (!(flags & kListedVectors)) return;
    if (!(flags & kVectorLeaves))
        ByteReader::reject("the ensemble", "has a list of vectors, but its leaves are not vectors");
    if (outputs > kMaxListedOutputs)
        ByteReader::reject("the ensemble", "has a list of vectors with too many outputs");
}

void LeafReader::read_lists(ByteReader& in) {
    if (flags_ & kListedNumbers) {
        numbers_.resize(in.read_count(8, "the number of listed values"));
        for (double& number : numbers_) number = in.read_real64("a listed value");
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            if (!std::isfinite(numbers_[i])) ByteReader::reject("a listed value", "is not finite");
            if (i > 0 && !precedes(numbers_[i - 1], numbers_[i]))
                ByteReader::reject("the list of values", "is not in ascending order");
        }
    }
    if (!(flags_ & kListedVectors)) return;
    std::size_t count =
        in.read_count(outputs_ * min_number_bytes(), "the number of listed vectors");
    vectors_.resize(count * outputs_);
    for (double& number : vectors_) {
        number = read_number(in);
        if (!std::isfinite(number)) ByteReader::reject("a listed vector", "is not finite");
    }
    std::span<const double> all(vectors_);
    for (std::size_t i = 1; i < count; ++i)
        if (!ascend(all.subspan((i - 1) * outputs_, outputs_), all.subspan(i * outputs_, outputs_)))
            ByteReader::reject("the list of vectors", "is not in ascending order");
}

std::size_t LeafReader::min_bytes() const {
    if (flags_ & kListedVectors) return 1;
    return (flags_ & kVectorLeaves ? outputs_ : 1) * min_number_bytes();
}

void LeafReader::reserve(std::size_t leaves, Tree& tree) const {
    if (flags_ & kVectorLeaves) tree.leaf_values.reserve(leaves * outputs_);
}

double LeafReader::read_number(ByteReader& in) const {
    if (!(flags_ & kListedNumbers)) return in.read_real64("the value of a leaf");
    return numbers_[in.read_varint(numbers_.size(), "the value of a leaf")];
}

void LeafReader::read(ByteReader& in, Tree& tree, Node& leaf) const {
    if (!(flags_ & kVectorLeaves)) {
        leaf.set_leaf_value(read_number(in));
        return;
    }
    std::vector<double>& values = tree.leaf_values;
    leaf.set_vector_index(values.size() / outputs_);
    if (flags_ & kListedVectors) {
        auto index = in.read_varint(vectors_.size() / outputs_, "the vector of a leaf");
        auto vector = vectors_.begin() + static_cast<std::ptrdiff_t>(index * outputs_);
        values.insert(values.end(), vector, vector + static_cast<std::ptrdiff_t>(outputs_));
        return;
    }
    for (std::size_t k = 0; k < outputs_; ++k) values.push_back(read_number(in));
}

}  // namespace bosquet
