"""theory.certificate for scikit-learn's AdaBoost, on training rows and on new rows."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from bosquet.boosting import Certificate
from bosquet.boosting.adaboost.bounds import tree_vc_bound, vc_dim_of_stumps
from bosquet.reference import certificate as reference
from bosquet.theory import certificate


@pytest.fixture(scope="module")
def two_class_rows():
    X, y = make_classification(300, 6, n_informative=4, flip_y=0.05, random_state=0)
    return X, np.where(y == 1, "yes", "no")


@pytest.fixture(scope="module")
def stumps(two_class_rows):
    return AdaBoostClassifier(n_estimators=40, random_state=0).fit(*two_class_rows)


def test_errors_are_those_of_scikit_learn_and_its_weights_are_halved(two_class_rows, stumps):
    found = certificate(stumps, *two_class_rows)
    np.testing.assert_allclose(found.errors, stumps.estimator_errors_, rtol=1e-9)
    np.testing.assert_allclose(found.alphas, stumps.estimator_weights_ / 2)
    np.testing.assert_allclose(found.alphas, np.log(1 / found.errors - 1) / 2)
    np.testing.assert_allclose(found.normalisers, 2 * np.sqrt(found.errors * (1 - found.errors)))
    assert found.vc_dim == vc_dim_of_stumps(6)
    assert found.holds(), found.checks()


def test_training_errors_and_margins_are_those_of_the_staged_model(two_class_rows, stumps):
    X, y = two_class_rows
    found = certificate(stumps, X, y)
    staged = [np.mean(predicted != y) for predicted in stumps.staged_predict(X)]
    np.testing.assert_allclose(found.training_errors, staged)
    # Its decision function for two classes is twice the normalised vote.
    expected = stumps.decision_function(X) / 2 * np.where(y == "yes", 1, -1)
    np.testing.assert_allclose(found.margins, expected, atol=1e-12)


def test_a_certificate_agrees_with_the_reference_on_the_predictions_of_the_learners(
    two_class_rows, stumps
):
    X, y = two_class_rows
    predictions = np.array([np.where(h.predict(X) == "yes", 1.0, -1.0) for h in stumps.estimators_])
    expected = reference.certificate(
        predictions, stumps.estimator_weights_ / 2, np.where(y == "yes", 1.0, -1.0)
    )
    found = certificate(stumps, X, y)
    for name in ("errors", "normalisers", "training_errors", "product", "smallest_edge_bound"):
        np.testing.assert_allclose(getattr(found, name), expected[name], rtol=1e-9)
    np.testing.assert_allclose(found.margins, expected["margins"], atol=1e-12)


def test_with_shrinkage_only_the_product_is_a_bound(two_class_rows):
    model = AdaBoostClassifier(n_estimators=30, learning_rate=0.2, random_state=0).fit(
        *two_class_rows
    )
    found = certificate(model, *two_class_rows)
    np.testing.assert_allclose(found.errors, model.estimator_errors_, rtol=1e-9)
    assert found.exponential_bound is None
    assert found.product is not None
    assert found.holds()


def test_the_product_bounds_the_error_on_new_rows_without_generalisation_bounds(stumps):
    X, y = make_classification(200, 6, n_informative=4, flip_y=0.05, random_state=9)
    found = certificate(stumps, X, np.where(y == 1, "yes", "no"), training=False)
    assert (found.training_errors <= found.product + 1e-12).all()
    assert found.holds()
    assert found.vc_bound().value is None
    assert found.kth_margin_bound().reason == "these are not the training rows of the model"


def test_sample_weights_are_those_of_the_fit(two_class_rows):
    X, y = two_class_rows
    weight = np.random.default_rng(0).uniform(0.5, 3, y.size)
    model = AdaBoostClassifier(n_estimators=10, random_state=0).fit(X, y, sample_weight=weight)
    found = certificate(model, X, y, sample_weight=weight)
    np.testing.assert_allclose(found.errors, model.estimator_errors_, rtol=1e-9)
    assert found.holds()
    assert found.row_weight is not None


def test_several_classes_have_errors_and_margins_but_no_product():
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    found = certificate(model, X, y)
    np.testing.assert_allclose(found.errors, model.estimator_errors_, rtol=1e-9)
    assert found.product is None
    assert found.exponential_bound is None
    assert "several classes" in str(found)
    assert found.training_errors[-1] == np.mean(model.predict(X) != y)
    assert found.holds()
    shares = np.array(
        [[w * (h.predict(X) == k) for k in range(3)]
         for h, w in zip(model.estimators_, model.estimator_weights_, strict=True)]
    ).sum(axis=0) / model.estimator_weights_.sum()  # fmt: skip
    row = 77
    others = np.delete(shares[:, row], y[row])
    assert found.margins[row] == pytest.approx(shares[y[row], row] - others.max())


def test_trees_have_a_dimension_and_other_learners_only_a_given_one(two_class_rows):
    X, y = two_class_rows
    trees = AdaBoostClassifier(DecisionTreeClassifier(max_leaf_nodes=4), n_estimators=5).fit(X, y)
    assert certificate(trees, X, y).vc_dim == tree_vc_bound(3, 6)
    machine = AdaBoostClassifier(SVC(C=100), n_estimators=2).fit(X, y)
    assert certificate(machine, X, y).vc_bound().value is None
    assert certificate(machine, X, y, vc_dim=7).vc_bound().at["d"] == 7


def test_a_perfect_tree_is_the_last_round(two_class_rows):
    X, y = two_class_rows
    model = AdaBoostClassifier(DecisionTreeClassifier(), n_estimators=5).fit(X, y)
    found = certificate(model, X, y)
    assert found.n_rounds == 1
    assert found.training_errors[-1] == 0
    assert found.holds()


class Staged(ClassifierMixin, BaseEstimator):
    """A vote with the attributes of Bosquet's: a certificate, and its sums after each round."""

    def __init__(self, model, scaled):
        self.model, self.scaled = model, scaled

    def fit(self, X, y):
        self.classes_ = self.model.classes_
        found = certificate(self.model, X, y)
        given = {
            name: getattr(found, name) for name in ("errors", "normalisers", "training_errors")
        }
        self.certificate_ = Certificate.from_rounds(
            variant="discrete", n_rows=found.n_rows, margins=found.margins, vc_dim=found.vc_dim,
            alphas=found.alphas if self.scaled else None, **given,
        )  # fmt: skip
        return self

    def staged_decision_function(self, X):
        total = np.zeros(len(X))
        for learner, weight in zip(
            self.model.estimators_, self.model.estimator_weights_, strict=True
        ):
            total += weight / 2 * np.where(learner.predict(X) == self.classes_[1], 1.0, -1.0)
            yield total


def test_a_vote_is_read_through_its_staged_sums(two_class_rows, stumps):
    X, y = two_class_rows
    expected = certificate(stumps, X, y)
    found = certificate(Staged(stumps, scaled=True).fit(X, y), X, y)
    for name in (
        "errors",
        "alphas",
        "normalisers",
        "training_errors",
        "smallest_edge_bound",
        "margins",
    ):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-12)
    assert found.variant == "discrete"


def test_learners_without_alpha_have_errors_and_a_product(two_class_rows, stumps):
    X, y = two_class_rows
    expected = certificate(stumps, X, y)
    found = certificate(Staged(stumps, scaled=False).fit(X, y), X, y)
    assert found.alphas is None
    assert found.exponential_bound is None
    for name in ("errors", "normalisers", "margins"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-12)
    assert found.holds()


def test_other_models_and_rows_raise_an_error(two_class_rows, stumps):
    X, y = two_class_rows
    with pytest.raises(ValueError, match="not a boosted vote"):
        certificate(RandomForestClassifier(3).fit(X, y), X, y)
    with pytest.raises(NotFittedError):
        certificate(AdaBoostClassifier(), X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        certificate(stumps, X, y[:-1])
    with pytest.raises(ValueError, match="which is not one of"):
        certificate(stumps, X, np.full(y.size, "perhaps"))
