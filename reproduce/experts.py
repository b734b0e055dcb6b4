"""The vignette of the R package opera: three forecasts of French electricity consumption."""

from pathlib import Path

import numpy as np

from bosquet import Mixture
from bosquet.experts import oracle

EXPERTS = {"gam": 1479.796, "ar": 1697.604, "gbm": 2334.390}
ORACLES = {"uniform": 1560.170, "convex": 1442.428, "linear": 1395.349}
CONVEX_WEIGHTS = (0.719170, 0.200884, 0.079946)
ML_POLY = 1457.476
ML_POLY_WEIGHTS = (0.577114, 0.422886, 0.0)


def electric_load(folder):
    """Root mean square errors, and weights, to all decimals that the vignette prints."""
    path = Path(folder) / "opera_electric_load"
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there: DATA must be the folder of the data sets")
    F = np.loadtxt(path / "vignette_experts.csv", delimiter=",", skiprows=1)
    y = np.loadtxt(path / "vignette_targets.csv", delimiter=",", skiprows=1)
    for (name, theirs), forecast in zip(EXPERTS.items(), F.T, strict=True):
        yield f"opera: expert {name}", theirs, float(np.sqrt(((forecast - y) ** 2).mean())), 0.0005
    for kind, theirs in ORACLES.items():
        yield f"opera: {kind}", theirs, oracle(F, y, kind).rmse, 0.0005
    weights = oracle(F, y, "convex").weights
    for name, theirs, ours in zip(EXPERTS, CONVEX_WEIGHTS, weights, strict=True):
        yield f"opera: convex weight of {name}", theirs, float(ours), 5e-7
    mixture = Mixture("ml-poly").fit(F, y)
    yield "opera: ML-Poly", ML_POLY, float(np.sqrt(mixture.losses_.mean())), 0.0005
    for name, theirs, ours in zip(EXPERTS, ML_POLY_WEIGHTS, mixture.final_weights_, strict=True):
        yield f"opera: final ML-Poly weight of {name}", theirs, float(ours), 5e-7
