"""Weights count everywhere after the fit: a row of weight 2 counts as two rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss, precision_recall_curve, roc_curve

from bosquet import Study
from bosquet.study.explain.diagnostics import calibration_on, coverage_on
from bosquet.study.explain.effects import (
    dependence_records,
    permutation_importances,
    rows_by_weight,
)
from bosquet.study.explain.learning_curve import learning_curve
from bosquet.study.methods import METHODS
from bosquet.study.methods.shapes import table_shape
from bosquet.study.metrics.metric import metric_named
from bosquet.study.report.document import page_html
from bosquet.study.run.context import StudyContext
from bosquet.study.run.evaluation_curves import evaluation_record, histogram
from bosquet.study.table.design import Design
from bosquet.study.table.reading import read_study_table
from bosquet.study.table.rows import TableRows
from bosquet.study.table.splits import seed_of, subsample
from bosquet.study.tuning.thresholds import (
    Decision,
    bagged_threshold,
    best_threshold,
    choose_decision,
    out_of_fold_predictions,
)

LABELS = np.array(["no", "yes"])


def labels_and_probabilities(n=120, seed=0, classes=LABELS):
    """Return targets, probabilities with ties, and integer weights, some of them 0."""
    random = np.random.default_rng(seed)
    p = random.dirichlet(np.ones(len(classes)), size=n).round(1) + 1e-3
    p /= p.sum(axis=1, keepdims=True)
    truth = np.array([random.choice(len(classes), p=row) for row in p])
    return classes[truth], p, random.integers(0, 4, n)


def repeated(values, weight):
    return np.repeat(values, weight, axis=0)


# ------------------------------------------------------------------------------------- thresholds
def test_the_best_threshold_of_weights_is_that_of_repeated_rows():
    for seed in range(20):
        y, p, weight = labels_and_probabilities(seed=seed)
        event = y == "yes"
        for miss in (0.5, 1.0, 7.0):
            found = best_threshold(p[:, 1], event, alarm=1.0, miss=miss, counts=weight)
            again = best_threshold(
                repeated(p[:, 1], weight), repeated(event, weight), alarm=1.0, miss=miss
            )
            # Of several thresholds with the same cost, the middle one is chosen.
            costs = [_cost(p[:, 1], event, weight, at, miss) for at in (found, again)]
            assert costs[0] == pytest.approx(costs[1])


def _cost(p, event, weight, threshold, miss):
    predicted = p >= threshold
    return weight @ (predicted & ~event) + miss * (weight @ (~predicted & event))


def test_events_of_large_weight_lower_the_threshold_of_a_decision():
    random = np.random.default_rng(0)
    p = random.random(2000)
    y = LABELS[(random.random(2000) < p).astype(int)]
    probabilities = np.column_stack([1 - p, p])
    costs = np.array([[0.0, 1.0], [1.0, 0.0]])
    metric = metric_named("cost", "binary", LABELS, costs=costs)
    weight = np.where(y == "yes", 9.0, 1.0)
    plain = choose_decision(probabilities, y, metric).threshold
    weighted = choose_decision(probabilities, y, metric, weight).threshold
    # With weight 9 it is optimal to predict the event if the odds are at least 1 to 9.
    assert plain == pytest.approx(0.5, abs=0.1)
    assert weighted == pytest.approx(0.1, abs=0.06)
    # Balanced accuracy divides by the weight of each class: equal weights within classes change nothing.
    metric = metric_named("log_loss", "binary", LABELS)
    assert choose_decision(probabilities, y, metric, weight).threshold == pytest.approx(
        choose_decision(probabilities, y, metric).threshold
    )


def test_equal_weights_do_not_change_the_bagged_threshold():
    y, p, _ = labels_and_probabilities(400)
    given = {"alarm": 1.0, "miss": 3.0}
    plain = bagged_threshold(p[:, 1], y == "yes", **given)
    assert bagged_threshold(p[:, 1], y == "yes", **given, weight=np.full(400, 2.0)) == plain


def test_rows_of_weight_zero_do_not_change_the_threshold():
    y, p, _ = labels_and_probabilities(300)
    event = y == "yes"
    weight = np.ones(300)
    weight[:150] = 0
    p[:150], event[:150] = p[:150, ::-1], ~event[:150]
    random = np.random.default_rng(0)
    for _ in range(5):
        other = event.copy()
        other[:150] = random.random(150) < 0.5
        found = [
            bagged_threshold(p[:, 1], e, alarm=1.0, miss=2.0, weight=weight) for e in (event, other)
        ]
        assert found[0] == found[1]


def test_out_of_fold_predictions_have_their_weights():
    frame, y = two_classes(200)
    weight = np.random.default_rng(1).random(200)
    candidate = METHODS["logistic"].candidates(table_shape(frame, y, "binary"))[0]
    metric = metric_named("log_loss", "binary", LABELS)
    found = out_of_fold_predictions(
        candidate, TableRows(frame, y, Design(weight=weight)), metric, 0
    )
    assert np.array_equal(found.weight, weight)
    assert out_of_fold_predictions(candidate, TableRows(frame, y), metric, 0).weight is None


# ----------------------------------------------------------------------------------------- curves
@pytest.mark.parametrize("classes", [LABELS, np.array(["a", "b", "c"])])
def test_curves_of_weights_are_those_of_repeated_rows(classes):
    y, p, weight = labels_and_probabilities(400, classes=classes)
    task = "binary" if len(classes) == 2 else "multiclass"
    metric = metric_named("log_loss", task, classes)
    decision = Decision(classes)
    found = evaluation_record(y, p, metric, decision, weight.astype(float))
    again = evaluation_record(repeated(y, weight), repeated(p, weight), metric, decision)
    for curve in ("roc", "pr"):
        assert found[curve].keys() == again[curve].keys()
        for label in found[curve]:
            assert np.allclose(found[curve][label], again[curve][label])
    assert np.allclose(found["confusion"], again["confusion"])
    assert found["n_rows"] == 400
    if task == "binary":
        ours = {one["threshold"]: one for one in found["thresholds"]}
        shared = [one for one in again["thresholds"] if one["threshold"] in ours]
        assert len(shared) > 100
        for one in shared:
            assert ours[one["threshold"]] == pytest.approx(one)


def test_calibration_of_weights_is_that_of_repeated_rows():
    y, p, weight = labels_and_probabilities(400)
    metric = metric_named("log_loss", "binary", LABELS)
    found = evaluation_record(y, p, metric, Decision(LABELS), weight.astype(float))["calibration"]
    again = evaluation_record(repeated(y, weight), repeated(p, weight), metric, Decision(LABELS))
    for key in ("forecast", "observed", "n"):
        ours, theirs = ([one[key] for one in bins] for bins in (found, again["calibration"]))
        assert ours == pytest.approx(theirs)


def test_weighted_curves_agree_with_scikit_learn():
    y, p, weight = labels_and_probabilities(150, seed=3)
    metric = metric_named("log_loss", "binary", LABELS)
    found = evaluation_record(y, p, metric, Decision(LABELS), weight.astype(float))
    false, true, _ = roc_curve(y == "yes", p[:, 1], sample_weight=weight, drop_intermediate=False)
    assert np.allclose(found["roc"]["yes"], np.column_stack([false, true]), atol=1e-5)
    precision, recall, _ = precision_recall_curve(y == "yes", p[:, 1], sample_weight=weight)
    ours = np.array(found["pr"]["yes"])[1:]
    theirs = np.column_stack([recall, precision])[:-1][::-1]
    assert np.allclose(ours, theirs, atol=1e-5)


def test_histograms_of_weights_are_those_of_repeated_rows():
    random = np.random.default_rng(0)
    values, weight = random.normal(size=200), random.integers(0, 4, 200)
    found = histogram(values, weight=weight.astype(float))
    again = histogram(repeated(values, weight))
    assert found["edges"] == again["edges"]
    assert found["counts"]["all"] == pytest.approx(again["counts"]["all"])
    metric = metric_named("rmse", "regression")
    predictions = np.zeros(200)
    found = evaluation_record(values, predictions, metric, None, weight.astype(float))["residuals"]
    assert found["counts"]["all"] == pytest.approx(again["counts"]["all"])


# ------------------------------------------------------------------------------------ explanations
def two_classes(n=300, seed=0):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": random.normal(size=n), "b": random.normal(size=n)})
    y = LABELS[(frame["a"] + 0.5 * random.normal(size=n) > 0).astype(int)]
    return frame, y


class ByHalf:
    """Predict the first column on one side of c, the second column on the other."""

    def predict(self, X):
        return np.where(X["c"] > 0, X["a"], X["b"])


def test_importances_use_only_rows_of_positive_weight():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(400, 2)), columns=["a", "b"])
    frame["c"] = np.where(np.arange(400) < 200, 1.0, -1.0)
    y = ByHalf().predict(frame)
    metric = metric_named("rmse", "regression")
    weight = (frame["c"] > 0).to_numpy(dtype=float)
    given = {"seconds": None, "microseconds": 1.0, "seed": 0}
    found = permutation_importances(ByHalf(), frame, y, metric, **given, weight=weight)
    value = {one["feature"]: one["value"] for one in found}
    assert value["a"] == pytest.approx(100)
    assert value["b"] == value["c"] == 0  # all rows with positive weight are on the same side of c
    plain = permutation_importances(ByHalf(), frame, y, metric, **given)
    assert {one["feature"]: one["value"] for one in plain}["b"] > 50


def test_importances_of_weights_are_about_those_of_repeated_rows():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(900, 2)), columns=["a", "b"])
    y = frame["a"].to_numpy() + 0.6 * frame["b"].to_numpy() + 0.1 * random.normal(size=900)
    model = LinearRegression().fit(frame, y)
    # Rows of weight 3 have extreme values of b, so b is more important with repeated rows.
    weight = np.where(frame["b"].abs() > 1, 3, 1)
    metric = metric_named("mae", "regression")
    given = {"seconds": None, "microseconds": 1.0}

    def of_b(X, y, weight=None):
        found = [
            permutation_importances(model, X, y, metric, **given, seed=seed, weight=weight)
            for seed in range(5)
        ]
        return np.mean([one["value"] for table in found for one in table if one["feature"] == "b"])

    weighted = of_b(frame, y, weight.astype(float))
    again = of_b(frame.iloc[repeated(np.arange(900), weight)], repeated(y, weight))
    assert weighted == pytest.approx(again, rel=0.05)
    assert abs(of_b(frame, y) - again) > 0.1 * again


def test_rows_are_repeated_according_to_their_weight():
    assert (
        rows_by_weight(5, None).tolist()
        == rows_by_weight(5, np.ones(5)).tolist()
        == [0, 1, 2, 3, 4]
    )
    assert rows_by_weight(6, np.array([0.0, 3.0, 1.0, 0.0, 0.0, 2.0])).tolist() == [
        1,
        1,
        1,
        2,
        5,
        5,
    ]


def test_effects_of_weights_are_those_of_repeated_rows():
    frame, y = two_classes(90)
    model = LogisticRegression().fit(frame, y)
    metric = metric_named("log_loss", "binary", LABELS)
    weight = np.random.default_rng(2).integers(0, 3, 90)
    given = {"enough_time": lambda: True, "seed": 0}
    found = dependence_records(
        model, frame, y, metric, "y", ["a"], **given, weight=weight.astype(float)
    )[0]
    # Points of the grid are those of the table, so the mean at each is compared by the model itself.
    again = frame.iloc[repeated(np.arange(90), weight)]
    for place in (0, 12, -1):
        probabilities = model.predict_proba(again.assign(a=found["grid"][place]))[:, 1]
        assert found["mean"][place] == pytest.approx(probabilities.mean())
        expected = np.quantile(probabilities, [0.1, 0.9], method="inverted_cdf")
        assert [found["low"][place], found["high"][place]] == pytest.approx(expected.tolist())


def test_the_effects_of_several_classes_show_the_class_of_largest_weight():
    classes = np.array(["a", "b", "c"])
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.normal(size=120)})
    y = np.repeat(classes, [30, 60, 30])
    model = LogisticRegression().fit(frame, y)
    metric = metric_named("log_loss", "multiclass", classes)
    given = {"enough_time": lambda: True, "seed": 0}
    weight = np.where(y == "c", 5.0, 1.0)
    for counted, label in ((None, "b"), (weight, "c")):
        found = dependence_records(model, frame, y, metric, "y", ["x"], **given, weight=counted)
        assert found[0]["unit"] == f"probability of {label}"


def test_coverage_and_calibration_count_rows_by_weight():
    frame, y = two_classes(400)
    model = LogisticRegression().fit(frame, y)
    metric = metric_named("log_loss", "binary", LABELS)
    wrong = model.predict(frame) != y
    weight = np.where(wrong, 1e-9, 1.0)  # almost all weight is on correctly predicted rows
    plain, found = (coverage_on(model, frame, y, metric, 0, w) for w in (None, weight))
    assert found["observed"] > plain["observed"]
    plain, found = (calibration_on(model, frame, y, metric, 0, w) for w in (None, weight))
    assert found["brier"] < 0.6 * plain["brier"]
    equal = calibration_on(model, frame, y, metric, 0, np.full(400, 1.0))
    assert equal["brier"] == pytest.approx(plain["brier"])


def test_the_learning_curve_fits_and_scores_by_weight():
    frame, y = two_classes(300)
    weight = np.random.default_rng(3).integers(1, 5, 300).astype(float)
    study = read_study_table(frame.assign(y=y), "y", "auto")
    metric = metric_named("log_loss", "binary", LABELS)
    shape = table_shape(study.X, y, "binary")
    setting = StudyContext(
        study.X, study.target, metric, [metric], shape, 0, design=Design(weight=weight)
    )
    split = setting.splits.split(0)
    candidate = METHODS["logistic"].candidates(shape)[-1]
    points = learning_curve(
        setting,
        candidate,
        split,
        Decision(LABELS),
        rows=split.train,
        score_on_all_rows=0.5,
        one_fit_seconds=0.0,
        seconds_left=lambda: 1.0,
    )
    size = round(points[-2]["rows"])
    scores = []
    for draw in range(3):
        seed = seed_of(0, "learning", size, draw)
        some = split.train[subsample(y[split.train], size, seed, stratify=True)]
        model = candidate.make(seed).fit(study.X.iloc[some], y[some], sample_weight=weight[some])
        probabilities = model.predict_proba(study.X.iloc[split.test])
        scores.append(log_loss(y[split.test], probabilities, sample_weight=weight[split.test]))
    assert points[-2]["score"] == pytest.approx(np.mean(scores))


# ------------------------------------------------------------------------------------ whole studies
def weighted_table(n=400, seed=0):
    frame, y = two_classes(n, seed)
    weight = np.random.default_rng(seed + 1).integers(1, 5, n)
    return frame.assign(w=weight, y=y)


def test_a_test_table_is_scored_by_its_weight_column():
    later = weighted_table(300, 5)
    study = Study(methods=["constant", "logistic"], budget=None, repeats=2, verbose=0)
    study.fit(weighted_table(), "y", sample_weight="w", test=later)
    found = study.record_["test_table"]
    expected = log_loss(later["y"], study.predict_proba(later), sample_weight=later["w"])
    assert found["metrics"]["log_loss"] == pytest.approx(expected)
    assert found["metrics"]["log_loss"] != pytest.approx(
        log_loss(later["y"], study.predict_proba(later)), rel=1e-6
    )
    low, high = found["interval"]
    assert low < found["metrics"]["log_loss"] < high
    assert "On the 300 rows of the test table (weighted): Log loss" in str(study)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="w"), "the test table lacks the column 'w'"),
        (lambda t: t.assign(w=-1), "in the test table the weight column 'w' is -1 in row 0"),
        (lambda t: t.assign(w=0), "in the test table the weight column 'w' is 0 in all rows"),
        (
            lambda t: t.assign(w=np.nan),
            "in the test table the weight column 'w' has missing values in 50",
        ),
    ],
)
def test_a_test_table_without_usable_weights_raises_before_any_fit(change, message):
    study = Study(methods=["constant"], budget=None, verbose=0)
    with pytest.raises(ValueError, match=message):
        study.fit(weighted_table(), "y", sample_weight="w", test=change(weighted_table(50, 5)))
    assert not hasattr(study, "record_")


def test_a_test_table_without_a_target_needs_no_weights():
    later = weighted_table(100, 5).drop(columns=["w", "y"])
    study = Study(methods=["constant"], budget=None, repeats=1, verbose=0)
    study.fit(weighted_table(), "y", sample_weight="w", test=later)
    assert "test_table" not in study.record_


def test_the_page_of_a_weighted_study_draws_weighted_rows():
    table = weighted_table()
    study = Study(methods=["constant", "logistic"], budget=None, repeats=1, verbose=0)
    study.fit(table, "y", sample_weight="w")
    test = study.splits_[0][1]
    method = next(one for one in study.record_["methods"] if one["name"] == "logistic")
    total = (table["w"] / table["w"].mean())[test].sum()
    assert np.sum(method["test"]["confusion"]) == pytest.approx(total)
    first = method["test"]["thresholds"][0]
    assert sum(first[key] for key in ("tn", "fp", "fn", "tp")) == pytest.approx(total)
    assert sum(bin["n"] for bin in method["test"]["calibration"]) == pytest.approx(total)
    assert page_html(study.record_)


def test_thresholds_for_a_rare_class_use_the_weights():
    random = np.random.default_rng(0)
    n = 1500
    frame = pd.DataFrame({"a": random.normal(size=n)})
    frame["y"] = LABELS[(frame["a"] + random.normal(size=n) > 2.3).astype(int)]
    # Uncertain events have large weights, so balanced accuracy requires a low threshold.
    frame["w"] = np.where((frame["y"] == "yes") & (frame["a"] < 1.3), 20.0, 1.0)
    given = {"methods": ["constant", "logistic"], "budget": None, "repeats": 1, "verbose": 0}
    plain = Study(**given).fit(frame.drop(columns="w"), "y")
    weighted = Study(**given).fit(frame, "y", sample_weight="w")
    test = weighted.splits_[0][1]

    def balanced(study):
        predictions, truth = study.predict(frame.iloc[test]), frame["y"].to_numpy()[test]
        w = frame["w"].to_numpy()[test]
        return np.mean(
            [np.average(predictions[truth == k] == k, weights=w[truth == k]) for k in LABELS]
        )

    assert balanced(weighted) > balanced(plain) + 0.03
