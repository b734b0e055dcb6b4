"""Weak learners: their common interface, and how they use sample weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as TheirTree

from bosquet import DecisionTreeClassifier, DecisionTreeRegressor
from bosquet.boosting.adaboost._estimator_learners import seeded_clone
from bosquet.boosting.adaboost._learner_factory import (
    encode_table,
    is_native,
    make_vote,
    make_weak_learner,
)
from bosquet.boosting.adaboost._weak_learners import Reweighting
from bosquet.boosting.adaboost.bounds import tree_vc_bound, vc_dim_of_stumps

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3)).round(1)
SIGNS = np.where(X[:, 0] + 0.5 * RNG.normal(size=80) > 0, 1.0, -1.0)
CLASSES = np.digitize(X[:, 0] + 0.3 * RNG.normal(size=80), [-0.5, 0.5])
WEIGHT = RNG.uniform(0.2, 2, 80)


def learner_of(estimator, output_kind, **options):
    encoder, table = encode_table(estimator, X, owner="a test")
    return make_weak_learner(
        estimator, table, output_kind=output_kind, encoder=encoder, seed=3, **options
    ), encoder


KINDS = [
    (None, "signs", {}),
    (None, "probabilities", {}),
    (None, "numbers", {}),
    (None, "classes", {"n_classes": 3}),
    (None, "labels", {"n_classes": 3}),
    (DecisionTreeClassifier(max_depth=2), "signs", {}),
    (DecisionTreeClassifier(max_depth=2), "signs", {"split": "histogram"}),
    (DecisionTreeClassifier(max_depth=2), "classes", {"n_classes": 3}),
    (DecisionTreeClassifier(max_depth=2), "labels", {"n_classes": 3}),
    (DecisionTreeClassifier(max_depth=2), "probabilities", {"split": "histogram"}),
    (DecisionTreeRegressor(max_depth=2), "numbers", {"split": "histogram"}),
    (DecisionTreeRegressor(max_depth=2), "signs", {}),
    (TheirTree(max_depth=2), "signs", {}),
    (TheirTree(max_depth=2), "classes", {"n_classes": 3}),
    (TheirTree(max_depth=2), "labels", {"n_classes": 3}),
    (GaussianNB(), "probabilities", {}),
    (GaussianNB(), "numbers", {}),
    (Ridge(), "signs", {}),
    (Ridge(), "numbers", {"reweight": "resample"}),
]


@pytest.mark.parametrize(("estimator", "output_kind", "options"), KINDS)
def test_a_hypothesis_predicts_the_same_for_training_rows_and_equal_rows(
    estimator, output_kind, options
):
    learner, encoder = learner_of(estimator, output_kind, **options)
    target, weight = SIGNS, WEIGHT
    if output_kind == "classes":
        target = CLASSES
    elif output_kind == "labels":
        target = np.where(np.arange(3)[:, None] == CLASSES, 1.0, -1.0)
        weight = np.tile(WEIGHT, (3, 1))
    hypothesis = learner.fit(target, weight, 0)
    predictions = learner.predict_training_rows(hypothesis)
    np.testing.assert_allclose(predictions, learner.predict(hypothesis, X), rtol=1e-6, atol=1e-12)
    shape = {"labels": (3, 80), "probabilities": (80, 2)}.get(output_kind, (80,))
    assert predictions.shape == shape
    if output_kind == "signs":
        assert np.abs(predictions).max() <= 1
    several = output_kind == "labels" and estimator is not None
    at_once = output_kind == "labels" and not several
    if output_kind not in ("classes", "probabilities"):
        vote = make_vote(
            learner, encoder, outputs=3 if output_kind == "labels" else 1, at_once=at_once
        )
        vote.add(hypothesis, 2.0)
        columns = encoder.transform(X) if is_native(estimator) else X
        np.testing.assert_allclose(
            vote.predict_raw(columns, 1),
            2 * (predictions.T if output_kind == "labels" else predictions[:, None]),
            rtol=1e-6,
        )


def test_only_learners_grown_by_the_core_are_native():
    assert is_native(None)
    assert is_native(DecisionTreeRegressor(max_depth=2))
    assert not is_native(DecisionTreeClassifier(pruning="cv"))
    assert not is_native(DecisionTreeClassifier(ccp_alpha=0.1))
    assert not is_native(DecisionTreeClassifier(missing="surrogate"))
    assert not is_native(DecisionTreeClassifier(class_weight="balanced"))
    assert not is_native(TheirTree())


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 60), st.integers(0, 2**31 - 1), st.booleans(), st.booleans())
def test_weights_are_passed_on_with_mean_one_and_samples_with_as_many_rows(
    rows, seed, resample, under
):
    rng = np.random.default_rng(seed)
    weight = rng.exponential(size=rows) ** 3
    strata = rng.integers(0, 2, rows)
    strata[0], strata[-1] = 0, 1
    passed = Reweighting(seed, resample, strata if under else None)(weight, 2, 1)
    assert (passed >= 0).all()
    smallest = np.bincount(strata).min()
    kept = 2 * smallest if under else rows
    assert passed.sum() == pytest.approx(kept)
    if resample:
        assert (passed == passed.round()).all()
    elif under:
        assert np.array_equal(np.bincount(strata[passed > 0]), [smallest, smallest])
    else:
        np.testing.assert_allclose(passed / passed.sum(), weight / weight.sum())
    again = Reweighting(seed, resample, strata if under else None)(weight, 2, 1)
    assert np.array_equal(passed, again)


def test_rows_are_drawn_in_proportion_to_their_weights():
    weight = np.array([0.0, 1.0, 2.0, 5.0])
    drawn = sum(Reweighting(0, True)(weight, t) for t in range(4000))
    np.testing.assert_allclose(drawn / drawn.sum(), weight / weight.sum(), atol=0.01)
    assert drawn[0] == 0


def test_every_seed_of_a_nested_learner_is_set():
    nested = make_pipeline(StandardScaler(), TheirTree(random_state=0))
    one = seeded_clone(nested, np.random.RandomState(1))
    two = seeded_clone(nested, np.random.RandomState(2))
    name = "decisiontreeclassifier__random_state"
    assert one.get_params()[name] != two.get_params()[name]
    assert (
        one.get_params()[name] == seeded_clone(nested, np.random.RandomState(1)).get_params()[name]
    )


def shatters(points):
    """Return whether stumps shatter the points."""
    labellings = set()
    for column in points.T:
        for threshold in [-np.inf, *column]:
            side = column <= threshold
            labellings |= {tuple(side), tuple(~side)}
    return len(labellings) == 2 ** len(points)


def test_the_bound_on_the_capacity_of_stumps_is_met_on_few_features():
    assert vc_dim_of_stumps(1) == 2
    assert shatters(np.array([[0.0], [1.0]]))
    assert vc_dim_of_stumps(2) == 3
    assert shatters(np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]))
    rng = np.random.default_rng(0)
    assert not any(
        shatters(rng.permuted(np.tile(np.arange(4.0), (2, 1)), axis=1).T) for _ in range(300)
    )


def test_larger_trees_have_larger_capacity():
    sizes = [tree_vc_bound(splits, 10) for splits in (1, 3, 7, 15)]
    assert sizes == sorted(sizes)
    assert tree_vc_bound(1, 10) >= vc_dim_of_stumps(10)
