// Surrogate splits for rows whose value of the primary split is missing (Breiman et al. 1984, 5.3).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cart/cart_split.hpp"
#include "cart/code_sums.hpp"
#include "cart/codes.hpp"
#include "cart/sums.hpp"

namespace bosquet {

class SurrogateSearch {
  public:
    SurrogateSearch(const CodedTable& table, std::uint32_t max_surrogates)
        : table_(&table), max_surrogates_(max_surrogates), code_sums_({}) {}

    // Returns the splits on other columns that agree best with the primary split on the rows whose
    // values of both are known, best first. Splits that agree no better than sending every row to
    // the heavier side are left out. sides[i] is 1 if row i goes left.
    std::vector<Surrogate> find(const CartSplit& primary, const std::uint32_t* rows,
                                const std::vector<double>& weights, std::size_t count,
                                const std::vector<std::uint8_t>& sides);

  private:
    using Pairs = PairSums<Criterion::squared>;

    Surrogate find_best_on(std::uint32_t feature, const NodeRows<Pairs::Item>& rows_with_value);

    const CodedTable* table_;
    std::uint32_t max_surrogates_;
    CodeSums<Pairs> code_sums_;
    std::vector<std::uint32_t> known_rows_;
    std::vector<Pairs::Item> known_items_;
};

// The first surrogate whose value is not missing decides; without one, the row goes to the heavier
// side.
template <class CodeOf>
bool goes_left_by_surrogate(const std::vector<Surrogate>& surrogates, bool heavier_left,
                            CodeOf code_of) {
    for (const Surrogate& surrogate : surrogates) {
        std::uint32_t code = code_of(surrogate.split.feature);
        if (code != 0) return surrogate.split.goes_left(code) != surrogate.reversed;
    }
    return heavier_left;
}

}  // namespace bosquet
