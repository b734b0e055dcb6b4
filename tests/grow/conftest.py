"""The grower is reached through the boosting loop, so its tests use that room's driver."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "boost"))
