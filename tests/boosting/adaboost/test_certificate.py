"""Certificates agree with the reference, their bounds hold, and missing values have a reason."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bosquet.boosting.adaboost.certificate import Certificate
from bosquet.reference import certificate as reference

COLUMNS = [
    "errors",
    "edges",
    "alphas",
    "normalisers",
    "training_errors",
    "product",
    "exponential_bound",
    "smallest_edge_bound",
]


def boost(predictions, y, shrinkage=1.0):
    """Return the α_t of AdaBoost for given predictions; learners worse than chance are flipped."""
    weight, alphas = np.full(y.size, 1 / y.size), []
    for h in predictions:
        error = np.clip(weight @ (1 - y * h) / 2, 1e-9, 1 - 1e-9)
        alphas.append(shrinkage * np.log((1 - error) / error) / 2)
        weight = weight * np.exp(-alphas[-1] * y * h)
        weight /= weight.sum()
    return np.array(alphas)


def certify(found, **changes):
    given = {name: found[name] for name in ("errors", "alphas", "normalisers", "training_errors")}
    given |= {"variant": "discrete", "n_rows": found["margins"].size, "margins": found["margins"]}
    return Certificate.from_rounds(**{**given, "vc_dim": 3, **changes})


signs = st.sampled_from([-1.0, 1.0])


@st.composite
def votes(draw, elements=signs):
    rounds, rows = draw(st.integers(1, 12)), draw(st.integers(1, 15))
    predictions = draw(arrays(float, (rounds, rows), elements=elements))
    return predictions, draw(arrays(float, rows, elements=signs))


@given(votes())
def test_a_certificate_has_the_columns_of_the_reference_and_its_bounds_hold(vote):
    predictions, y = vote
    alphas = boost(predictions, y)
    if not np.abs(alphas).sum() > 1e-6:
        return
    found = reference.certificate(predictions, alphas, y)
    certificate = certify(found)
    for name in COLUMNS:
        np.testing.assert_allclose(getattr(certificate, name), found[name], rtol=1e-9, atol=1e-12)
    for theta in (-0.5, 0.0, 0.3, 1.0):
        assert certificate.margin_distribution(theta) == pytest.approx(
            reference.margin_distribution(found["margins"], theta)
        )
    assert certificate.holds(), certificate.checks()


@given(votes(), st.floats(0.05, 1.9))
def test_the_product_bounds_the_error_for_shrunk_weights_too(vote, shrinkage):
    predictions, y = vote
    alphas = boost(predictions, y, shrinkage)
    if not np.abs(alphas).sum() > 1e-6:
        return
    certificate = certify(reference.certificate(predictions, alphas, y))
    assert certificate.holds(), certificate.checks()
    if certificate.exponential_bound is not None:
        assert (certificate.product <= certificate.exponential_bound + 1e-9).all()


@given(votes(st.floats(-1, 1, width=16)), st.data())
def test_the_product_bounds_the_error_for_any_weights_and_predictions_between_minus_1_and_1(
    vote, data
):
    predictions, y = vote
    alphas = data.draw(arrays(float, predictions.shape[0], elements=st.floats(0.01, 3)))
    assert certify(reference.certificate(predictions, alphas, y)).holds()


def test_small_excesses_of_many_rounds_add_up():
    """Each Z_t exceeds exp(-2γ_t²) by less than the tolerance, their product by more."""
    predictions, alphas = np.full((3, 1), 2.0**-24), np.full(3, 0.015625)
    certificate = certify(reference.certificate(predictions, alphas, np.array([-1.0])))
    assert certificate.exponential_bound is None
    assert certificate.holds()


def test_predictions_between_minus_1_and_1_keep_the_exponential_bounds_under_the_same_rule():
    generator = np.random.default_rng(0)
    y = generator.choice([-1.0, 1.0], 40)
    predictions = np.clip(0.3 * y + generator.uniform(-1, 1, (15, 40)), -1, 1)
    certificate = certify(reference.certificate(predictions, boost(predictions, y), y))
    assert certificate.exponential_bound is not None
    assert certificate.holds()


def two_rounds():
    y = np.array([1.0, 1.0, -1.0, -1.0])
    predictions = np.array([[1.0, 1.0, -1.0, 1.0], [1.0, -1.0, -1.0, -1.0]])
    return reference.certificate(predictions, boost(predictions, y), y)


def test_a_violated_bound_is_detected():
    found = two_rounds()
    assert certify(found).holds()
    worse = certify(found, training_errors=np.array([0.25, 0.9]))
    assert not worse.holds()
    assert "DOES NOT HOLD" in str(worse)
    shifted = certify(found, margins=found["margins"] - 0.9)
    assert not shifted.checks()["training error = share of margins below 0"]


def test_shrunk_weights_lose_the_exponential_bounds_and_the_reason_is_printed():
    y = np.array([1.0] * 10)
    predictions = np.ones((3, 10))
    predictions[0, :4] = predictions[1, 4:7] = predictions[2, 7:] = -1
    certificate = certify(reference.certificate(predictions, boost(predictions, y, 0.1), y))
    assert certificate.product is not None
    assert certificate.exponential_bound is None
    assert certificate.smallest_edge_bound is None
    assert "exceeds exp(-2γ_t²)" in certificate.missing["exponential_bound"]
    assert certificate.missing["exponential_bound"] in str(certificate)


def test_a_perfect_learner_makes_the_product_0():
    certificate = Certificate.from_rounds(
        variant="discrete", n_rows=3, errors=[0.2, 0.0], alphas=[0.7, np.inf],
        normalisers=[0.8, 0.0], training_errors=[1 / 3, 0.0], margins=[1.0, 1.0, 1.0], vc_dim=2,
    )  # fmt: skip
    assert certificate.product[-1] == 0
    assert certificate.exponential_bound[-1] > 0
    assert certificate.holds()
    assert "the training error is 0 from round 2 on" in str(certificate)


def test_products_of_very_many_rounds_do_not_lose_their_logarithm():
    rounds = 40_000
    errors = np.full(rounds, 0.4)
    certificate = Certificate.from_rounds(
        variant="discrete", n_rows=1, errors=errors, alphas=np.log(1 / errors - 1) / 2,
        normalisers=2 * np.sqrt(errors * (1 - errors)), training_errors=np.zeros(rounds),
        margins=[1.0], vc_dim=3,
    )  # fmt: skip
    assert certificate.log_product[-1] == pytest.approx(rounds * np.log(2 * np.sqrt(0.24)))
    assert certificate.product[-1] == 0
    assert certificate.holds()


def test_missing_parts_of_a_variant_are_none_and_the_reason_is_printed_once():
    found = two_rounds()
    certificate = certify(
        found, errors=None, vc_dim=None, missing={"errors": "gentle fits numbers"}
    )
    assert certificate.errors is None
    assert certificate.edges is None
    assert certificate.exponential_bound is None
    assert certificate.smallest_edge_bound is None
    assert certificate.missing["smallest_edge_bound"] == "gentle fits numbers"
    assert certificate.vc_bound().value is None
    assert certificate.kth_margin_bound().value is None
    assert str(certificate).count("gentle fits numbers") == 1
    assert "the VC dimension of the learner is not known" in str(certificate)
    assert list(certificate.table().columns) == [
        "alpha", "normaliser", "training_error", "product"
    ]  # fmt: skip


def test_a_field_declared_missing_is_none_even_if_it_could_be_computed():
    certificate = certify(two_rounds(), missing={"exponential_bound": "there are three classes"})
    assert certificate.edges is not None
    assert certificate.exponential_bound is None
    assert certificate.smallest_edge_bound is None


def test_without_a_reason_the_variant_is_named():
    certificate = certify(two_rounds(), variant="lpboost", normalisers=None)
    assert certificate.missing["product"] == "lpboost does not have them"


def test_every_formula_is_printed_with_its_name():
    text = str(certify(two_rounds()))
    for part in ("ε_t", "γ_t", "α_t", "Z_t", "Π Z_t", "exp(-2Σγ²)", "exp(-2γ²T)", "smallest"):
        assert part in text
    assert "D = T(d+1)(3 ln(T(d+1)) + 2)" in text


def test_row_weights_weight_the_margins_and_exclude_bounds_for_iid_rows():
    found = two_rounds()
    weight = np.array([0.0, 3.0, 1.0, 1.0])
    certificate = certify(found, row_weight=weight, missing={"training_errors": "kept"})
    order = np.argsort(found["margins"][1:])
    assert certificate.smallest_margin == found["margins"][1:].min()
    shares = np.cumsum(weight[1:][order]) / 5
    np.testing.assert_allclose(certificate.margin_distribution(found["margins"][1:][order]), shares)
    assert "weighted" in certificate.missing["kth_margin_bound"]
    assert certify(found, row_weight=np.full(4, 2.0)).row_weight is None


@settings(max_examples=40)
@given(arrays(float, st.integers(1, 30), elements=st.floats(-1, 1)), st.floats(0, 1))
def test_a_quantile_is_the_smallest_margin_that_this_share_of_rows_does_not_exceed(margins, q):
    certificate = Certificate.from_rounds(
        variant="discrete", n_rows=margins.size, errors=None, alphas=None, normalisers=None,
        training_errors=[0.0], margins=margins,
    )  # fmt: skip
    found = certificate.margin_quantiles(q)
    expected = np.quantile(margins, q, method="inverted_cdf")
    assert (
        abs(certificate.margin_distribution(found) - certificate.margin_distribution(expected))
        < 1e-9
    )
    assert certificate.margin_quantiles(0) == margins.min() == certificate.smallest_margin


def test_the_table_is_a_structured_array_where_pandas_is_not_installed(monkeypatch):
    import sys

    certificate = certify(two_rounds())
    frame = certificate.table()
    monkeypatch.setitem(sys.modules, "pandas", None)
    rows = certificate.table()
    assert rows.dtype.names == ("round", *frame.columns)
    for name in frame.columns:
        np.testing.assert_array_equal(rows[name], frame[name])


def test_a_certificate_survives_pickling():
    certificate = certify(two_rounds(), missing={"vc_bound": "no"})
    again = pickle.loads(pickle.dumps(certificate))
    assert str(again) == str(certificate)


def test_a_certificate_can_be_made_again_from_its_own_fields():
    certificate = certify(two_rounds(), errors=None, missing={"errors": "gentle fits numbers"})
    fields = {
        field.name: getattr(certificate, field.name) for field in dataclasses.fields(certificate)
    }
    assert str(Certificate.from_rounds(**fields)) == str(certificate)


def test_arrays_of_the_wrong_length_and_unknown_names_raise():
    found = two_rounds()
    with pytest.raises(ValueError, match=r"alphas has shape \(1,\); it must have shape \(2,\)"):
        certify(found, alphas=[0.5])
    with pytest.raises(ValueError, match=r"margins has shape \(2,\); it must have shape \(4,\)"):
        certify(found, margins=[0.1, 0.2])
    with pytest.raises(ValueError, match=r"errors\[1\] is NaN"):
        certify(found, errors=[0.1, np.nan])
    with pytest.raises(ValueError, match="missing contains 'eps'"):
        certify(found, missing={"eps": "no"})
    with pytest.raises(ValueError, match=r"q must be in \[0, 1\]"):
        certify(found).margin_quantiles(1.5)


def test_no_rounds_make_an_empty_certificate():
    certificate = Certificate.from_rounds(
        variant="discrete", n_rows=2, errors=[], alphas=[], normalisers=[], training_errors=[],
        margins=None, vc_dim=2, missing={"margins": "there is no round"},
    )  # fmt: skip
    assert certificate.holds()
    assert certificate.vc_bound().reason == "there is no round"
    assert "0 rounds" in str(certificate)
