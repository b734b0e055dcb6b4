// All rules, one file per rule.
#pragma once

#include "experts/adahedge.hpp"
#include "experts/boa.hpp"
#include "experts/ewa.hpp"
#include "experts/ewa_grid.hpp"
#include "experts/exp3.hpp"
#include "experts/fixed_share.hpp"
#include "experts/ftl.hpp"
#include "experts/ftrl.hpp"
#include "experts/ml_poly.hpp"
#include "experts/ml_prod.hpp"
#include "experts/ogd.hpp"
#include "experts/ridge.hpp"
#include "experts/squint.hpp"
