"""theory.certificate on the training rows is the certificate of the fit."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.naive_bayes import GaussianNB

import bosquet
from bosquet import (
    AdaBoostClassifier,
    AnyBoostClassifier,
    BrownBoostClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    LPBoostClassifier,
)
from bosquet.theory import certificate

TREE = DecisionTreeClassifier(max_depth=2)
OF_TWO = {
    **{f"{v}, stumps": AdaBoostClassifier(None, 15, variant=v)
       for v in ("discrete", "real", "gentle", "logit", "mada")},
    **{f"{v}, trees": AdaBoostClassifier(TREE, 15, variant=v)
       for v in ("discrete", "real", "gentle", "mada")},
    "logit, trees": AdaBoostClassifier(DecisionTreeRegressor(max_depth=2), 15, variant="logit"),
    "shrunk": AdaBoostClassifier(n_estimators=15, learning_rate=0.3),
    "resampled": AdaBoostClassifier(GaussianNB(), 8, reweight="resample", random_state=0),
    **{f"anyboost, {loss}": AnyBoostClassifier(loss, n_estimators=15)
       for loss in ("exponential", "logistic", "squared_hinge", "smooth_hinge", "doom2")},
    "line search": AnyBoostClassifier("logistic", step="line_search", n_estimators=15),
    "brownboost": BrownBoostClassifier(target_error=0.3),
    "lpboost": LPBoostClassifier(nu=0.3),
}  # fmt: skip
OF_SEVERAL = {
    **{f"{scheme}, {'trees' if learner else 'stumps'}":
       AdaBoostClassifier(learner, 12, multiclass=scheme)
       for scheme in ("samme", "mh", "one-vs-rest", "one-vs-one", "ecoc") for learner in (None, TREE)},
    "mh of a foreign learner": AdaBoostClassifier(GaussianNB(), 8, multiclass="mh"),
    "mh, capped": AdaBoostClassifier(None, 12, variant="mada"),
    "mh, shrunk": AdaBoostClassifier(None, 12, multiclass="mh", learning_rate=0.5),
    "anyboost by a code": AnyBoostClassifier("logistic", n_estimators=12),
}  # fmt: skip
KEPT = ("errors", "edges", "alphas", "normalisers", "training_errors", "product",
        "exponential_bound", "smallest_edge_bound", "margins", "vc_dim", "factor")  # fmt: skip


def rows_for(name):
    if name in OF_TWO:
        return make_moons(150, noise=0.3, random_state=0)
    X, y = load_iris(return_X_y=True)
    return X[:, :2], y


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", [*OF_TWO, *OF_SEVERAL])
def test_the_certificate_equals_that_of_the_fit(name, weighted):
    X, y = rows_for(name)
    weight = np.random.default_rng(0).uniform(0.5, 2, y.size) if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = {**OF_TWO, **OF_SEVERAL}[name].fit(X, y, weight)
    kept, again = model.certificate_, certificate(model, X, y, weight)
    for field in KEPT:
        mine, other = getattr(kept, field), getattr(again, field)
        if name == "lpboost" and field in ("errors", "edges"):
            assert other is None, "the distributions of its rounds are not kept"
            continue
        assert (mine is None) == (other is None), field
        if mine is not None:
            np.testing.assert_allclose(other, mine, rtol=1e-7, atol=1e-9, err_msg=field)
    assert kept.holds(), kept.checks()
    assert again.holds(), again.checks()


@pytest.mark.parametrize("scheme", ["mh", "samme", "one-vs-rest"])
def test_only_mh_certificates_bound_the_error_of_several_classes(scheme):
    X, y = rows_for("several")
    model = AdaBoostClassifier(None, 40, multiclass=scheme).fit(X, y)
    found = model.certificate_
    if scheme != "mh":
        assert found.product is None
        assert found.training_error_bound is None
        return
    assert found.factor == 3 / 2
    np.testing.assert_allclose(found.edges, 0.5 - found.errors)
    truth = np.where(y[:, None] == np.arange(3), 1, -1)
    for t, f in enumerate(model.staged_decision_function(X)):
        assert np.exp(-truth * f).mean() == pytest.approx(found.product[t])
        assert (np.sign(f) != truth).mean() <= found.product[t]
        assert (f.argmax(axis=1) != y).mean() <= found.training_error_bound[t]
    text = str(found)
    assert "at most 1.5 Π Z_t" in text
    assert "training error ≤ 1.5 Π Z_t" in found.checks()


def test_a_wrong_factor_violates_the_bound():
    X, y = rows_for("several")
    found = AdaBoostClassifier(None, 3, multiclass="mh").fit(X, y).certificate_
    false = type(found).from_rounds(
        variant="mh", n_rows=y.size, errors=found.errors, alphas=found.alphas,
        normalisers=found.normalisers, training_errors=found.training_errors,
        margins=found.margins, factor=0.01,
    )  # fmt: skip
    assert not false.holds()


def test_a_model_from_a_file_has_its_margins_again(tmp_path):
    for name in ("discrete, stumps", "mh, stumps"):
        X, y = rows_for(name)
        model = {**OF_TWO, **OF_SEVERAL}[name].fit(X, y)
        model.save(tmp_path / "model.bosquet")
        loaded = bosquet.load(tmp_path / "model.bosquet")
        assert loaded.certificate_.margins is None
        assert loaded.certificate_.factor == model.certificate_.factor
        again = certificate(loaded, X, y)
        np.testing.assert_allclose(again.margins, model.certificate_.margins, atol=1e-12)
        mine, other = model.certificate_.kth_margin_bound(), again.kth_margin_bound()
        assert (mine.value is None) == (other.value is None)


def test_a_perfect_learner_has_the_documented_weight():
    found = AdaBoostClassifier().fit([[0.0], [1.0]], [0, 1]).certificate_
    assert found.errors[0] == 0
    assert found.alphas[0] == pytest.approx(np.log(1e4 - 1) / 2)
    assert found.normalisers[0] == pytest.approx(np.exp(-found.alphas[0]))
    assert found.product[-1] > 0
    assert found.holds()
