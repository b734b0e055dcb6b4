"""Neural networks of the course (item 48)."""

import numpy as np
import pytest

from bosquet.datasets import Moons
from bosquet.study.methods import METHODS
from bosquet.study.methods.method import TableShape
from bosquet.study.methods.pipelines import model_of

MANY = TableShape("binary", 5000, 2, 0, 2, 2, 0.5)
FEW = TableShape("binary", 300, 2, 0, 2, 2, 0.5)


def networks(shape):
    """Return the unfitted networks that a study tries."""
    return [candidate.make(0)[-1] for candidate in METHODS["mlp"].candidates(shape)]


def test_item_48_networks_use_momentum_a_decreasing_rate_weight_decay_and_early_stopping():
    made = networks(MANY)
    assert {len(network.hidden_layer_sizes) for network in made} == {1, 2}
    assert {"logistic", "tanh"} <= {network.activation for network in made}
    assert all(network.alpha > 0 and network.early_stopping for network in made)
    smooth = [network for network in made if network.solver == "sgd"]
    assert len(smooth) >= 3
    for network in smooth:
        assert network.momentum == pytest.approx(0.9)
        assert network.learning_rate == "adaptive"


@pytest.mark.filterwarnings("ignore:the network has 33 weights")
def test_item_48_decay_keeps_weights_small_and_inputs_lie_between_0_and_1():
    X, y = Moons(0.3).sample(300, random_state=0)
    sizes = {}
    for candidate in METHODS["mlp"].candidates(FEW):
        setting = candidate.setting
        if setting["hidden_layer_sizes"] == [8] and setting["alpha"] >= 1:
            model = candidate.make(0).fit(X, y)
            inputs = model[:-1].transform(X)
            assert inputs.min() == pytest.approx(0)
            assert inputs.max() == pytest.approx(1)
            sizes[setting["alpha"]] = sum((part**2).sum() for part in model_of(model).coefs_)
    assert sizes[10.0] < 0.5 * sizes[1.0]
    assert np.isfinite(list(sizes.values())).all()
