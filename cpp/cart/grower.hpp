// Grows trees by the decrease of impurity: CART and the trees of a forest.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cart/bag.hpp"
#include "cart/cart_tree.hpp"
#include "cart/codes.hpp"
#include "cart/options.hpp"
#include "parallel/team.hpp"
#include "trees/tree.hpp"

namespace bosquet {

class CartGrower {
  public:
    virtual ~CartGrower() = default;
    // `key` is the random seed. With `details`, the statistics of all nodes are kept. A team, if
    // given, divides the columns of large nodes among its threads.
    virtual CartTree grow(const Bag& bag, std::uint64_t key, bool details, Team* team) = 0;
};

// Creates a grower, one per thread, because it reuses its buffers from tree to tree. The arguments
// must outlive it.
std::unique_ptr<CartGrower> make_cart_grower(const CodedTable& table, const CartTarget& target,
                                             const CartOptions& options, int team_size);

}  // namespace bosquet
