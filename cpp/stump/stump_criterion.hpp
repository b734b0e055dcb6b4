// The criteria by which a stump is chosen. No standard header is included here, so that kernels may
// include it.
#pragma once

namespace bosquet {

enum class StumpCriterion { error, exponential, squared };

}  // namespace bosquet
