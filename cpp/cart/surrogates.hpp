// Stand-ins for a split, for rows whose value it asks for is missing (Breiman et al. 1984, 5.3).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cart/codes.hpp"
#include "cart/cut.hpp"
#include "cart/entries.hpp"
#include "cart/sums.hpp"

namespace bosquet {

class SurrogateSearch {
  public:
    SurrogateSearch(const CodedTable& table, std::uint32_t most)
        : table_(&table), most_(most), entries_({}) {}

    // The splits on other columns that agree best with this one on the rows whose values both know,
    // best first; none that agrees no better than sending every row the heavier way. sides[i] tells
    // whether row i goes left.
    std::vector<Surrogate> find(const Cut& primary, const std::uint32_t* rows,
                                const std::vector<double>& weights, std::size_t count,
                                const std::vector<std::uint8_t>& sides);

  private:
    using Pairs = PairSums<Criterion::squared>;

    Surrogate best_on(std::uint32_t feature, const NodeRows<Pairs::Item>& known);

    const CodedTable* table_;
    std::uint32_t most_;
    Entries<Pairs> entries_;
    std::vector<std::uint32_t> known_rows_;
    std::vector<Pairs::Item> known_items_;
};

// The first surrogate whose column has a value decides; without one, the heavier way.
template <class CodeOf>
bool goes_left_by_surrogate(const std::vector<Surrogate>& surrogates, bool heavier_left,
                            CodeOf code_of) {
    for (const Surrogate& surrogate : surrogates) {
        std::uint32_t code = code_of(surrogate.cut.feature);
        if (code != 0) return surrogate.cut.goes_left(code) != surrogate.reversed;
    }
    return heavier_left;
}

}  // namespace bosquet
