"""Studies of classes: labels of any type, rare classes, costs; the final model, saved and loaded."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from stand_ins import constant, linear, tree

import bosquet
from bosquet import Study
from bosquet.study.chosen_model import ChosenModel


def two_class_table(n=300, rare=0.5, seed=0, labels=("no", "yes")):
    random = np.random.default_rng(seed)
    event = random.random(n) < rare
    a, b = random.normal(size=n) + 1.5 * event, random.normal(size=n)
    return pd.DataFrame({"a": a, "b": b, "y": np.asarray(labels)[event.astype(int)]})


def study_of_two_methods(**more):
    settings = {"budget": None, "repeats": 1, "verbose": 0, "methods": [constant(), linear()]}
    return Study(**{**settings, **more})


@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1), (False, True)])
def test_predictions_have_the_type_of_the_labels(labels):
    study = study_of_two_methods().fit(two_class_table(100, labels=labels), "y")
    predictions = study.predict(two_class_table(50, seed=1))
    assert set(predictions.tolist()) == set(labels)
    assert study.predict_proba(two_class_table(5)).shape == (5, 2)
    assert study.classes_.tolist() == sorted(labels)


def test_a_rare_class_uses_average_precision_and_its_own_threshold():
    study = study_of_two_methods().fit(two_class_table(1500, rare=0.05), "y")
    assert study.record_["metric"]["name"] == "average_precision"
    assert study.record_["positive"] == "yes"
    row = study.table_.loc["linear"]
    assert row["balanced_accuracy"] > 0.65  # 0.5 with the most probable class
    test = study.record_["methods"][0]["test"]
    assert test["threshold"] < 0.3
    assert list(test["pr"]) == ["yes"]
    # The stored model uses the same threshold.
    predictions = study.predict(two_class_table(1500, rare=0.05, seed=2))
    assert (predictions == "yes").mean() > 0.1


def test_costs_are_the_metric_and_expensive_errors_are_avoided():
    table = two_class_table(600)
    plain = study_of_two_methods().fit(table, "y")
    costly = study_of_two_methods(costs=[[0, 1], [20, 0]]).fit(table, "y")
    assert costly.record_["metric"]["name"] == "cost"
    assert costly.record_["costs"] == [[0, 1], [20, 0]]
    missed = [
        (study.predict(table)[table["y"] == "yes"] == "no").mean() for study in (plain, costly)
    ]
    assert missed[1] < missed[0] / 3
    same = study_of_two_methods(costs={"yes": 20, "no": 1}).fit(table, "y")
    assert same.table_.loc["linear", "cost"] == costly.table_.loc["linear", "cost"]


def test_several_classes_have_curves_a_confusion_matrix_and_costs_without_a_threshold():
    random = np.random.default_rng(0)
    kind = random.integers(0, 3, 240)
    table = pd.DataFrame({"a": kind + random.normal(size=240), "kind": np.array(list("uvw"))[kind]})
    study = study_of_two_methods(costs=[[0, 1, 1], [1, 0, 1], [9, 9, 0]]).fit(table, "kind")
    test = next(m for m in study.record_["methods"] if m["name"] == "linear")["test"]
    assert set(test["roc"]) == {"u", "v", "w"}
    assert np.sum(test["confusion"]) == study.record_["n_test"]
    assert "threshold" not in test
    wrong_w = (study.predict(table)[table["kind"] == "w"] != "w").mean()
    assert wrong_w < 0.15


def test_what_test_rows_show_agrees_with_the_metrics():
    study = study_of_two_methods(methods=[tree()]).fit(two_class_table(), "y")
    method = study.record_["methods"][0]
    test, n = method["test"], study.record_["n_test"]
    right = np.trace(test["confusion"]) / n
    assert right == pytest.approx(method["metrics"]["accuracy"])
    roc = np.array(test["roc"][study.record_["positive"]])
    area = np.trapezoid(roc[:, 1], roc[:, 0])
    assert area == pytest.approx(method["metrics"]["roc_auc"], abs=0.005)
    half = min(test["thresholds"], key=lambda one: abs(one["threshold"] - 0.5))
    assert half["tp"] + half["tn"] == pytest.approx(right * n, abs=1)
    for one in test["thresholds"]:
        assert one["tn"] + one["fp"] + one["fn"] + one["tp"] == n


def test_a_model_of_bosquets_own_is_saved_with_tidying_and_decision(tmp_path):
    table = two_class_table(400, rare=0.06).assign(
        day=pd.date_range("2024-01-01", periods=400).astype(str)
    )
    study = study_of_two_methods(methods=["cart"], metric="balanced_accuracy").fit(table, "y")
    study.save(tmp_path / "model")
    again = bosquet.load(tmp_path / "model")
    assert (again.predict(table) == study.predict(table)).all()
    assert (again.predict_proba(table) == study.predict_proba(table)).all()


def test_a_model_of_another_library_is_not_saved_and_the_error_explains_it(tmp_path):
    study = study_of_two_methods().fit(two_class_table(), "y")
    with pytest.raises(
        ValueError, match="Linear is a model of scikit-learn, and a model file holds"
    ):
        study.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_the_constant_and_a_super_learner_of_other_models_are_not_saved(tmp_path):
    table = two_class_table()
    study = study_of_two_methods(methods=["constant"]).fit(table, "y")
    with pytest.raises(
        ValueError, match="chose the constant, which a model file cannot hold; fit one"
    ):
        study.save(tmp_path / "model")
    members = [("cart", bosquet.DecisionTreeClassifier()), ("logistic", LogisticRegression())]
    model = bosquet.SuperLearnerClassifier(members).fit(table[["a", "b"]], table["y"])
    message = r"Super learner has members of scikit-learn \(logistic\), and a model file"
    with pytest.raises(ValueError, match=message):
        ChosenModel(model, study.best_.tidier, title="Super learner").save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_chosen_boosted_model_has_its_certificate_and_margins():
    study = study_of_two_methods(methods=["adaboost"]).fit(two_class_table(150), "y")
    chosen = study.record_["chosen"]
    assert chosen["name"] == "adaboost"
    assert chosen["certificate"]["holds"]
    assert "bound" in chosen["certificate"]
    assert sum(chosen["margins"]["counts"]["all"]) == 120


def test_a_chosen_tree_is_drawn_itself():
    study = study_of_two_methods(methods=["cart"], metric="accuracy").fit(two_class_table(), "y")
    assert study.record_["chosen"]["tree_title"].startswith("The chosen tree")
    assert study.record_["chosen"]["tree"]["n"] == 240


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"budget": "soon"}, "budget='soon' is not a duration; pass seconds, text such as '90s'"),
        ({"budget": 0}, "budget must be a positive, finite duration"),
        ({"metric": "rmse"}, "metric='rmse' is not a metric for a binary task"),
        ({"methods": ["magic"]}, "'magic' in methods is unknown; available: 'constant'"),
        ({"methods": []}, "methods is empty"),
        ({"methods": ["cart", "cart"]}, "methods contains 'cart' twice"),
        ({"repeats": 0}, "repeats=0 is not valid"),
        ({"random_state": -1}, "random_state=-1 is not valid"),
        ({"task": "regression"}, "needs a numeric target"),
        ({"costs": [[0, 1]]}, "costs has shape"),
        ({"costs": [[0, 0], [1, 0]]}, "costs: predicting"),
        ({"costs": {"maybe": 2}}, "costs has the key 'maybe', which is not a class"),
    ],
)
def test_invalid_options_raise_a_message_of_one_line(settings, message):
    with pytest.raises(ValueError, match=message) as error:
        study_of_two_methods(**settings).fit(two_class_table(40), "y")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("table", "target", "message"),
    [
        (
            two_class_table(40),
            "why",
            "the target column 'why' is not in the table; available: 'a', 'b', 'y'",
        ),
        (two_class_table(40).rename(columns={"y": "label"}), "lable", "did you mean 'label'"),
        (two_class_table(40), None, "no target was passed"),
        (two_class_table(40)[["y"]], "y", "no column besides the target"),
        (two_class_table(40)[:0], "y", "no rows"),
        (two_class_table(40).set_axis(["a", "y", "y"], axis=1), "y", "2 columns are named 'y'"),
        (two_class_table(40), [0, 1], "X has 40 rows, but y has 2"),
        (
            np.zeros((12, 100_000)),
            [0, 1] * 6,
            "has 100,000 columns besides the target, but a study accepts at most 20,000",
        ),
        (two_class_table(40).assign(y=["same"] * 40), "y", "is same in every row"),
        (
            pd.DataFrame({"a": [f"t{k}" for k in range(40)], "y": [0, 1] * 20}),
            "y",
            "no usable feature is left",
        ),
    ],
)
def test_invalid_tables_raise_a_message_of_one_line(table, target, message):
    with pytest.raises(ValueError, match=message) as error:
        study_of_two_methods().fit(table, target)
    assert "\n" not in str(error.value)


def test_columns_of_the_same_name_and_of_mixed_types_are_used():
    table = two_class_table(80).assign(mixed=[1, "two", None, 3.5] * 20)
    table.columns = ["a", "a", "y", "mixed"]
    study = study_of_two_methods(methods=["logistic"]).fit(table, "y")
    assert study.table_.loc["logistic", "status"] == "done"
    assert study.predict(table).shape == (80,)
