"""The instruction sets of this processor for which the core has kernels."""

from __future__ import annotations

from bosquet import _core

_ALL = ["baseline", "avx2", "avx512"]
ISAS = _ALL[: _ALL.index(_core.best_isa()) + 1]  # only the baseline on processors other than x86
