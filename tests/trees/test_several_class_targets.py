"""Trees and forests for several classification targets."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn import tree as sklearn_tree

import bosquet
from bosquet import (
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
)
from bosquet.io import ModelFileError, model_bytes, model_from_bytes
from bosquet.io.container import pack_trees, unpack_trees
from bosquet.reference.cart import grow

SIZES = np.array(["large", "medium", "small"])


def make_data(rows=150, seed=0):
    """Return two targets with two and three classes; two of the four features are irrelevant."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 4))
    first = (X[:, 0] + 0.3 * random.normal(size=rows) > 0).astype(int)
    second = np.digitize(X[:, 1] + X[:, 0] + 0.3 * random.normal(size=rows), [-1, 1])
    return X, np.column_stack([first, second])


def labelled(rows=150, seed=0):
    X, y = make_data(rows, seed)
    labels = np.empty(y.shape, dtype=object)
    labels[:, 0], labels[:, 1] = y[:, 0] * 10, SIZES[y[:, 1]]
    return X, labels


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("weighted", [False, True])
def test_splits_agree_with_the_reference(criterion, weighted):
    X, y = make_data(80)
    weight = np.random.default_rng(1).integers(1, 4, 80).astype(float) if weighted else None
    model = DecisionTreeClassifier(criterion=criterion, max_depth=3, min_samples_leaf=6)
    tree = model.fit(X, y, weight).tree_
    reference = grow(
        X, y.astype(float), weight, criterion=criterion, max_depth=3, min_samples_leaf=6
    )

    def same(at, node):
        assert tree.n_rows[at] == len(node.rows)
        assert tree.impurity[at] * tree.weight[at] == pytest.approx(node.impurity, abs=1e-9)
        assert (tree.feature[at] < 0) == (node.feature is None)
        if node.feature is not None:
            assert tree.feature[at] == node.feature
            assert tree.threshold[at] == pytest.approx(node.threshold)
            same(tree.left[at], node.children[0])
            same(tree.right[at], node.children[1])

    same(0, reference)
    assert tree.n_leaves > 4


def test_predictions_agree_with_scikit_learn():
    X, y = make_data(300)
    X = X.astype(np.float32)
    ours = DecisionTreeClassifier(max_depth=3, min_samples_leaf=10).fit(X, y)
    theirs = sklearn_tree.DecisionTreeClassifier(max_depth=3, min_samples_leaf=10, random_state=0)
    theirs.fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for mine, other in zip(ours.predict_proba(X), theirs.predict_proba(X), strict=True):
        np.testing.assert_allclose(mine, other)
    np.testing.assert_allclose(ours.tree_.impurity[0], theirs.tree_.impurity[0])
    np.testing.assert_allclose(
        ours.cost_complexity_pruning_path(X, y).ccp_alphas[-3:],
        theirs.cost_complexity_pruning_path(X, y).ccp_alphas[-3:],
        rtol=1e-6,
    )


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=4),
        DecisionTreeClassifier(max_depth=4, missing="surrogate", ccp_alpha=0.001),
        RandomForestClassifier(9, random_state=0),
        RandomForestClassifier(9, random_state=0, voting="hard", class_weight="balanced"),
        ExtraTreesClassifier(9, random_state=0, split="histogram"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_labels_of_different_types_are_predicted_and_saved(model, tmp_path):
    X, labels = labelled()
    X[::9, 1] = np.nan
    model.fit(X, labels)
    predicted, shares = model.predict(X), model.predict_proba(X)
    assert predicted.shape == (150, 2)
    assert [type(label) for label in predicted[0]] == [int, str]
    assert (predicted == labels).mean() > 0.7
    assert [share.shape for share in shares] == [(150, 2), (150, 3)]
    assert model.n_outputs_ == 2
    assert model.n_classes_ == [2, 3]
    for share, classes, column in zip(shares, model.classes_, predicted.T, strict=True):
        np.testing.assert_allclose(share.sum(axis=1), 1)
        np.testing.assert_array_equal(classes[share.argmax(axis=1)], column)
    for share, log in zip(shares, model.predict_log_proba(X), strict=True):
        np.testing.assert_allclose(np.exp(log), share)
    model.save(tmp_path / "model.bosquet")
    for other in (bosquet.load(tmp_path / "model.bosquet"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(X), predicted)
        for ours, theirs in zip(other.predict_proba(X), shares, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_a_duplicated_target_gives_the_predictions_of_the_target():
    X, y = make_data()
    for kind in (DecisionTreeClassifier, RandomForestClassifier, ExtraTreesClassifier):
        options = {} if kind is DecisionTreeClassifier else {"n_estimators": 5}
        twice = kind(random_state=0, **options).fit(X, y[:, [1, 1]])
        once = kind(random_state=0, **options).fit(X, y[:, 1])
        np.testing.assert_array_equal(twice.predict(X)[:, 0], once.predict(X))
        np.testing.assert_allclose(twice.predict_proba(X)[1], once.predict_proba(X))


def test_categorical_columns_are_split_for_all_targets_together():
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    for levels in (6, 30):
        codes = random.integers(0, levels, 600)
        y = np.column_stack([codes % 2, codes % 3])
        frame = pandas.DataFrame({"x": pandas.Categorical(codes.astype(str))})
        model = DecisionTreeClassifier().fit(frame, y)
        np.testing.assert_array_equal(model.predict(frame), y)


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_the_out_of_bag_error_is_the_mean_over_targets(voting):
    X, y = make_data()
    forest = RandomForestClassifier(60, oob_score=True, voting=voting, random_state=0).fit(X, y)
    wrong = [
        shares.argmax(axis=1) != y[:, t] for t, shares in enumerate(forest.oob_decision_function_)
    ]
    assert forest.oob_error_ == pytest.approx(np.mean(wrong))
    assert forest.oob_score_ == 1 - forest.oob_error_
    assert 0 < forest.oob_error_ < forest.oob_tree_error_ < 0.5
    found = forest.importance("permutation", X, y, per_row=True)
    assert found.kind == "permutation (accuracy)"
    assert set(np.argsort(-found.mean)[:2]) == {0, 1}
    assert np.argmax(forest.importance("impurity").mean) in (0, 1)
    errors = RandomForestClassifier(200, random_state=0).fit(X, y).jackknife_standard_errors(X[:5])
    assert [error.shape for error in errors] == [(5, 2), (5, 3)]


def test_class_weights_of_several_targets_are_multiplied():
    X, y = make_data()
    by_dict = [{0: 1.0, 1: 5.0}, {0: 1.0, 1: 2.0, 2: 3.0}]
    weight = np.array([1.0, 5.0])[y[:, 0]] * np.array([1.0, 2.0, 3.0])[y[:, 1]]
    given = DecisionTreeClassifier(class_weight=by_dict, max_depth=3).fit(X, y)
    by_hand = DecisionTreeClassifier(max_depth=3).fit(X, y, weight)
    for ours, theirs in zip(given.predict_proba(X), by_hand.predict_proba(X), strict=True):
        np.testing.assert_allclose(ours, theirs)


def test_options_and_methods_for_one_target_raise():
    X, y = make_data()
    for options in ({"priors": [0.5, 0.5]}, {"costs": np.eye(2)}, {"pruning": "cv"}):
        with pytest.raises(
            ValueError, match=f"{next(iter(options))} needs one target, but y has 2"
        ):
            DecisionTreeClassifier(**options).fit(X, y)
    with pytest.raises(ValueError, match="'balanced_subsample' needs one target, but y has 2"):
        RandomForestClassifier(3, class_weight="balanced_subsample").fit(X, y)
    with pytest.raises(ValueError, match="target 1 of y has one class only, 0"):
        DecisionTreeClassifier().fit(X, np.column_stack([y[:, 0], np.zeros(150, dtype=int)]))
    forest = RandomForestClassifier(9, random_state=0, warm_start=True).fit(X, y)
    for method in (forest.strength_and_correlation, forest.outlier_scores):
        with pytest.raises(
            ValueError,
            match="needs a forest with one target, but this one has 2 targets; fit one forest per",
        ):
            method(X, y)
    with pytest.raises(
        ValueError,
        match="measure='margin' is not valid: for this forest, measure must be 'accuracy'",
    ):
        forest.importance("permutation", X, y, measure="margin")
    forest.set_params(n_estimators=12)
    with pytest.raises(ValueError, match="y has 1 targets, but the model was fitted to 2"):
        forest.fit(X, y[:, 0])
    with pytest.raises(ValueError, match="is 7, which is not one of the classes"):
        forest.fit(X, np.where(y == 1, 7, y))
    labels = labelled()[1]
    labels[3, 1] = None
    with pytest.raises(ValueError, match=r"y\[3\] is missing"):
        forest.fit(X, labels)
    assert forest.n_estimators_ == 9
    more = forest.fit(X, y)
    assert more.n_estimators_ == 12


def test_a_tree_of_several_targets_can_be_exported():
    X, y = make_data()
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y)
    assert "mean 0." in tree.export_text()
    assert len(tree.rules()) == 2


def test_a_file_with_inconsistent_classes_raises():
    X, y = make_data()
    for model in (DecisionTreeClassifier(max_depth=2), RandomForestClassifier(2)):
        ensemble, metadata = unpack_trees(model_bytes(model.fit(X, y)))
        two, three = metadata["classes"]
        for classes in ([three, three], [two], two, [two, {**three, "values": []}], [], None):
            with pytest.raises(ModelFileError):
                model_from_bytes(pack_trees(ensemble, {**metadata, "classes": classes}))


def test_multilabel_targets_can_be_scored():
    from sklearn.datasets import make_multilabel_classification

    X, y = make_multilabel_classification(200, n_classes=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        forest = RandomForestClassifier(30, random_state=0).fit(X[:150], y[:150])
        assert forest.score(X[150:], y[150:]) > 0.3
