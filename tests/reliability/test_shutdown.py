"""The interpreter ends while a daemon thread is inside a long call of the core."""

import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
    import threading, time
    import numpy as np
    import bosquet
    X = np.random.default_rng(0).normal(size=({rows}, 10))
    y = X[:, 0] * X[:, 1]
    model = {model}

    class Lingering:  # keeps the interpreter ending for a while, and others may ask for the GIL
        def __del__(self, sleep=time.sleep):
            sleep(0.3)

    lingering = Lingering()
    threading.Thread(target=model.fit, args=(X, y), daemon=True).start()
    time.sleep(0.5)
"""
MODELS = {
    "bosquet.DecisionTreeRegressor()": 300_000,
    "bosquet.GradientBoostingRegressor(n_estimators=10_000, early_stopping=False)": 100_000,
}


@pytest.mark.parametrize("model", MODELS)
def test_a_daemon_thread_in_a_fit_does_not_abort_the_process(model):
    program = textwrap.dedent(PROGRAM).format(model=model, rows=MODELS[model])
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=120)
    assert (ran.returncode, ran.stderr) == (0, b"")
