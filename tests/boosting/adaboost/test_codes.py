"""Codes for several classes, and decoding by losses."""

import numpy as np
import pytest

from bosquet import AdaBoostClassifier
from bosquet.boosting.adaboost.votes import CodeDecoder, TwoClassDecoder, code_matrix
from bosquet.losses import margin_loss

KINDS = ["one-vs-rest", "one-vs-one", "ecoc"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("classes", [3, 4, 5, 7, 26])
def test_every_column_separates_classes_and_no_two_classes_have_the_same_code(kind, classes):
    matrix = code_matrix(kind, classes, seed=0)
    assert matrix.shape[0] == classes
    assert (matrix == 1).any(axis=0).all()
    assert (matrix == -1).any(axis=0).all()
    assert len(np.unique(matrix, axis=0)) == classes


def test_each_kind_of_code_has_its_number_of_columns():
    assert code_matrix("one-vs-rest", 6).shape == (6, 6)
    assert code_matrix("one-vs-one", 6).shape == (6, 15)
    assert code_matrix("ecoc", 4).shape == (4, 7)
    assert code_matrix("ecoc", 26).shape == (26, 48)
    assert np.array_equal(code_matrix("ecoc", 26, 3), code_matrix("ecoc", 26, 3))


def test_rows_of_an_error_correcting_code_are_far_apart():
    matrix = code_matrix("ecoc", 26, seed=0).astype(int)
    apart = (matrix.shape[1] - matrix @ matrix.T) // 2
    assert apart[~np.eye(26, dtype=bool)].min() >= 11


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", ["exponential", "logistic", "squared_hinge"])
def test_the_code_of_a_class_is_decoded_correctly_even_with_an_error(kind, loss):
    matrix = code_matrix(kind, 5, seed=0)
    decoder = CodeDecoder(matrix, margin_loss(loss))
    raw = 2.0 * matrix
    assert np.array_equal(decoder.class_indices(decoder.scores(raw)), np.arange(5))
    if kind == "ecoc":
        raw[:, 0] = -raw[:, 0]
        assert np.array_equal(decoder.class_indices(decoder.scores(raw)), np.arange(5))


def test_one_vs_rest_is_decoded_to_the_largest_vote():
    raw = np.random.default_rng(0).normal(size=(200, 6))
    decoder = CodeDecoder(code_matrix("one-vs-rest", 6), margin_loss("exponential"))
    assert np.array_equal(decoder.class_indices(decoder.scores(raw)), raw.argmax(axis=1))


def test_a_code_of_one_column_has_the_probabilities_of_two_classes():
    raw = np.random.default_rng(0).normal(size=(50, 1))
    loss = margin_loss("exponential")
    code = CodeDecoder(np.array([[-1], [1]]), loss)
    two = TwoClassDecoder(loss)
    np.testing.assert_allclose(
        code.probabilities(code.scores(raw)), two.probabilities(two.scores(raw))
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_code_of_a_fitted_vote_can_be_read():
    X = np.repeat(np.arange(4.0), 5)[:, None]
    y = np.repeat(list("abcd"), 5)
    pairs = AdaBoostClassifier(n_estimators=3, multiclass="one-vs-one").fit(X, y)
    np.testing.assert_array_equal(pairs.code_, code_matrix("one-vs-one", 4))
    voted = AdaBoostClassifier(n_estimators=3).fit(X, y)
    with pytest.raises(AttributeError, match="multiclass='one-vs-rest'"):
        _ = voted.code_
