// Grows trees by impurity: CART, and the trees of a forest.
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
    // `key` seeds what is drawn. With `details`, all that is known of each node is kept. A team, if
    // there is one, shares out the columns of large nodes.
    virtual CartTree grow(const Bag& bag, std::uint64_t key, bool details, Team* team) = 0;
};

// One for each thread: a grower keeps what it works with from tree to tree. All must outlive it.
std::unique_ptr<CartGrower> make_cart_grower(const CodedTable& table, const CartTarget& target,
                                             const CartOptions& options, int team_size);

}  // namespace bosquet
