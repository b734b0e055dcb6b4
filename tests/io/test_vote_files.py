"""Boosted votes in files: the same predictions after loading, and damaged files are rejected."""

import json

import numpy as np
import pytest
from mutations import mutations
from sklearn.datasets import load_iris, make_classification
from sklearn.svm import SVC

import bosquet
from bosquet import AdaBoostClassifier, AnyBoostClassifier, DecisionTreeClassifier, ModelFileError
from bosquet.io import model_bytes, model_from_bytes, pack_trees, unpack_trees

TWO = make_classification(200, 5, random_state=0)
THREE = load_iris(return_X_y=True)
MODELS = {
    "stumps": (AdaBoostClassifier(n_estimators=8), TWO),
    "real": (AdaBoostClassifier(n_estimators=8, variant="real"), TWO),
    "trees": (AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), 6), TWO),
    "stopped early": (
        AdaBoostClassifier(n_estimators=30, early_stopping=True, random_state=0),
        TWO,
    ),
    "samme": (AdaBoostClassifier(n_estimators=6), THREE),
    "mh": (AdaBoostClassifier(n_estimators=6, multiclass="mh"), THREE),
    "mh of trees": (
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), 4, multiclass="mh"),
        THREE,
    ),
    "code": (AdaBoostClassifier(n_estimators=6, multiclass="one-vs-one"), THREE),
    "anyboost": (AnyBoostClassifier("smooth_hinge", n_estimators=8), TWO),
    "anyboost by a code": (
        AnyBoostClassifier("logistic", n_estimators=4, multiclass="ecoc"),
        THREE,
    ),
}


@pytest.mark.parametrize("name", list(MODELS))
def test_a_vote_is_equal_after_loading(name, tmp_path):
    model, (X, y) = MODELS[name]
    model.fit(X, y)
    path = tmp_path / "model.bosquet"
    model.save(path)
    again = bosquet.load(path)
    assert type(again) is type(model)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(again.predict(X), model.predict(X))
    assert repr(again.get_params()) == repr(model.get_params())
    np.testing.assert_array_equal(again.estimator_weights_, model.estimator_weights_)
    np.testing.assert_array_equal(again.estimator_errors_, model.estimator_errors_)
    np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)
    np.testing.assert_array_equal(again.train_score_, model.train_score_)
    assert model_bytes(again) == model_bytes(model)
    for column in ("errors", "alphas", "normalisers", "training_errors", "product"):
        np.testing.assert_array_equal(
            getattr(again.certificate_, column), getattr(model.certificate_, column)
        )
    assert again.certificate_.margins is None
    assert "margins" in again.certificate_.missing
    assert str(again.certificate_)


@pytest.mark.parametrize(
    "spoiled",
    [{"n_rows": -1}, {"training_errors": None}, {"errors": [[0.1]]}, {"missing": {"nothing": "x"}}],
    ids=repr,
)
def test_an_impossible_certificate_is_rejected(spoiled):
    X, y = TWO
    ensemble, metadata = unpack_trees(model_bytes(AdaBoostClassifier(n_estimators=3).fit(X, y)))
    metadata["certificate"] |= spoiled
    with pytest.raises(ModelFileError):
        model_from_bytes(pack_trees(ensemble, metadata))


def test_a_perfect_first_round_has_a_certificate_in_its_file():
    X = np.arange(10.0).reshape(-1, 1)
    model = AdaBoostClassifier(n_estimators=3).fit(X, X[:, 0] > 4)
    again = model_from_bytes(model_bytes(model))
    np.testing.assert_array_equal(again.certificate_.errors, model.certificate_.errors)


def test_a_loaded_vote_can_be_continued():
    X, y = TWO
    whole = AdaBoostClassifier(n_estimators=10, variant="real").fit(X, y)
    part = AdaBoostClassifier(n_estimators=6, variant="real", warm_start=True).fit(X, y)
    again = model_from_bytes(model_bytes(part)).set_params(n_estimators=10).fit(X, y)
    np.testing.assert_allclose(again.decision_function(X), whole.decision_function(X), rtol=1e-6)


def test_labels_names_and_categories_survive():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"colour": ["red", "blue", "red", "green"] * 10, "size": np.arange(40.0)}
    )
    y = np.where((frame["colour"] == "red") | (frame["size"] > 30), "buy", "leave")
    model = AdaBoostClassifier(n_estimators=10).fit(frame, y)
    again = model_from_bytes(model_bytes(model))
    assert np.array_equal(again.predict(frame), model.predict(frame))
    assert list(again.feature_names_in_) == ["colour", "size"]


def test_models_that_a_file_cannot_store_are_rejected_with_advice():
    X, y = TWO
    with pytest.raises(
        ValueError, match=r"AdaBoostClassifier\(estimator=SVC\(\)\) cannot be saved.*pickle"
    ):
        model_bytes(AdaBoostClassifier(SVC(), 2).fit(X, y))
    with pytest.raises(ValueError, match=r"a custom loss cannot be stored.*pickle"):
        model_bytes(AnyBoostClassifier(lambda m: np.exp(-m), n_estimators=2).fit(X, y))


def test_thousands_of_damaged_vote_files_are_rejected():
    model, (X, y) = MODELS["code"]
    file = model_bytes(model.fit(X, y))
    other = model_bytes(AdaBoostClassifier(n_estimators=3).fit(*TWO))
    for data in mutations(file, other, 0, 800):
        with pytest.raises(ModelFileError):
            model_from_bytes(data)


def _without(metadata, *path):
    *way, last = path
    inner = metadata
    for key in way:
        inner = inner[key]
    del inner[last]


WRONG = {
    "another estimator": lambda m: m.update(estimator="Popen"),
    "another learner": lambda m: m.update(learner={"name": "SVC", "parameters": {}}),
    "no decision": lambda m: _without(m, "decision"),
    "another decision": lambda m: m["decision"].update(kind="two"),
    "another loss": lambda m: m["decision"].update(loss="os.system"),
    "a short code": lambda m: m["decision"]["matrix"].pop(),
    "a code of twos": lambda m: m["decision"]["matrix"][0].__setitem__(0, 2),
    "fewer rounds": lambda m: m["rounds"]["scale"].pop(),
    "ragged rounds": lambda m: m["rounds"]["error"][0].pop(),
    "a round in words": lambda m: m["rounds"]["size"][0].__setitem__(0, "large"),
    "one class": lambda m: m["classes"].update(values=m["classes"]["values"][:1]),
    "a parameter out of range": lambda m: m["parameters"].update(n_estimators=-1),
    "a seed out of range": lambda m: m.update(seed=-5),
}


@pytest.mark.parametrize("name", list(WRONG))
def test_inconsistent_metadata_is_rejected(name):
    model, (X, y) = MODELS["code"]
    ensemble, metadata = unpack_trees(model_bytes(model.fit(X, y)))
    metadata = json.loads(json.dumps(metadata))
    WRONG[name](metadata)
    with pytest.raises(ModelFileError):
        model_from_bytes(pack_trees(ensemble, metadata))
