// The values and the impurity of a node.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "cart/bag_rows.hpp"
#include "cart/median.hpp"
#include "cart/options.hpp"
#include "cart/sums.hpp"
#include "trees/bounds.hpp"

namespace bosquet {

template <class Sums>
class NodeValues {
  public:
    NodeValues(const CartTarget& target, const CartOptions& options, const Sums& sums,
               const BagRows<Sums>& rows, std::size_t table_rows)
        : target_(target), options_(&options), sums_(sums), rows_(&rows), stride_(table_rows) {}

    // The number of values per leaf. For two classes the share of the second class is enough.
    std::uint32_t outputs() const { return Sums::kPair ? 1 : target_.outputs; }

    bool pure(const RowRange& node, std::span<const double> sums) const {
        if constexpr (std::is_same_v<Sums, VectorSums>) {
            for (std::uint32_t k = 0; k < target_.outputs; ++k)
                if (!equal_numbers(node, target_.numbers.data() + k * stride_)) return false;
            return true;
        } else if constexpr (Sums::kPair) {
            if (target_.is_classes()) return sums[1] == 0 || sums[1] == sums[0];
            return equal_numbers(node, target_.numbers.data());
        } else {
            return sums_.one_class(sums.data());
        }
    }

    // The proxy gain of a node before it is split, on the scale on which splits are compared.
    double proxy_gain_of_node(const RowRange& node, std::span<const double> sums) const {
        if (options_->criterion == Criterion::absolute) {
            std::vector<WeightedValue> numbers = numbers_of(node);
            return -distances(numbers);
        }
        if constexpr (Sums::kPair)
            return sums_.node_proxy_gain(sums[0], sums[1]);
        else
            return sums_.proxy_gain(sums.data());
    }

    // Converts a difference of proxy gains to the decrease of impurity times weight.
    double decrease_from(double difference) const {
        // For two classes the proxy gain uses the sums of one class; the Gini index counts both.
        if (Sums::kPair && options_->criterion == Criterion::gini) difference *= 2;
        if (options_->criterion == Criterion::entropy) difference /= std::log(2.0);
        return difference;
    }

    // The value of a node with one output.
    double value(const RowRange& node, std::span<const double> sums,
                 const ValueBounds& bounds) const {
        if (options_->criterion == Criterion::absolute) {
            std::vector<WeightedValue> numbers = numbers_of(node);
            return weighted_median(numbers);
        }
        double mean = 0;
        put_values(sums, &mean);
        if (options_->monotone.empty()) return mean;
        // The bounds refer to centred numbers.
        double offset = rows_->offset();
        return std::clamp(mean - offset, bounds.lower, bounds.upper) + offset;
    }

    // Writes the values of a node, one per output.
    void put_values(std::span<const double> sums, double* out) const {
        double weight = sums_.weight(sums.data());
        if constexpr (Sums::kPair) {
            out[0] = sums[1] / weight + rows_->offset();
        } else {
            std::size_t first_sum = std::is_same_v<Sums, VectorSums> ? 1 : 0;
            for (std::uint32_t k = 0; k < target_.outputs; ++k)
                out[k] = sums[first_sum + k] / weight;
        }
    }

    double impurity(const RowRange& node, std::span<const double> sums) const {
        double weight = sums_.weight(sums.data());
        double proxy_gain = sums_.proxy_gain(sums.data());
        switch (options_->criterion) {
            case Criterion::gini:
                return 1 - proxy_gain / weight;
            case Criterion::entropy:
                return -proxy_gain / weight / std::log(2.0);
            default:
                break;
        }
        double impurity_sum = 0;
        if (options_->criterion == Criterion::absolute) {
            std::vector<WeightedValue> numbers = numbers_of(node);
            impurity_sum = distances(numbers);
        } else if (options_->criterion == Criterion::poisson) {
            for (std::size_t i = node.begin; i < node.begin + node.count; ++i) {
                WeightedValue number = number_of(i);
                impurity_sum += number.weight * x_log_x(number.value);
            }
            impurity_sum = proxy_gain > -1e300 ? impurity_sum - proxy_gain : 0.0;
        } else {
            impurity_sum = squares(node) - proxy_gain;
            if constexpr (std::is_same_v<Sums, VectorSums>) impurity_sum /= target_.outputs;
        }
        return std::max(impurity_sum, 0.0) / weight;
    }

  private:
    bool equal_numbers(const RowRange& node, const double* y) const {
        for (std::size_t i = node.begin + 1; i < node.begin + node.count; ++i)
            if (y[rows_->row(i)] != y[rows_->row(node.begin)]) return false;
        return true;
    }

    std::vector<WeightedValue> numbers_of(const RowRange& node) const {
        std::vector<WeightedValue> numbers(node.count);
        for (std::size_t i = 0; i < node.count; ++i) numbers[i] = number_of(node.begin + i);
        return numbers;
    }

    WeightedValue number_of(std::size_t i) const {
        const auto& item = rows_->item(i);
        if constexpr (Sums::kPair)
            return {item.sum / item.weight + rows_->offset(), item.weight};
        else
            return {0, item.weight};
    }

    static double distances(std::vector<WeightedValue>& numbers) {
        if (numbers.empty()) return 0;
        double median = weighted_median(numbers), sum = 0;
        for (const WeightedValue& number : numbers)
            sum += number.weight * std::abs(number.value - median);
        return sum;
    }

    // The weighted sum of squares of the (centred) numbers.
    double squares(const RowRange& node) const {
        double sum = 0;
        for (std::size_t i = node.begin; i < node.begin + node.count; ++i) {
            const auto& item = rows_->item(i);
            if constexpr (Sums::kPair) {
                sum += item.sum * item.sum / item.weight;
            } else if constexpr (std::is_same_v<Sums, VectorSums>) {
                for (std::uint32_t k = 0; k < target_.outputs; ++k) {
                    double y = target_.numbers[k * stride_ + rows_->row(i)];
                    sum += item.weight * y * y;
                }
            }
        }
        return sum;
    }

    CartTarget target_;
    const CartOptions* options_;
    const Sums sums_;
    const BagRows<Sums>* rows_;
    std::size_t stride_;  // distance between the numbers of two outputs
};

}  // namespace bosquet
