"""The tasks, ranks and ratios of the accuracy benchmark."""

import numpy as np
import pandas as pd
import pytest

# The package sets it; other tests in this process count threads.
with pytest.MonkeyPatch.context() as patch:
    patch.setenv("OMP_NUM_THREADS", "2")
    from benchmarks import ranks, real
    from benchmarks.cache import ScoreCache


def problem(name="adult", rows=1_000, task="binary", train_rows=None):
    X = pd.DataFrame({"x": np.arange(rows, dtype=float)})
    return real.Problem(name, task, X, np.arange(rows) % 2, train_rows)


def test_every_task_is_in_one_half_and_samples_are_in_the_half_of_their_table():
    assert set(real.CHOICE).isdisjoint(real.REPORT)
    assert set(real.CHOICE) | set(real.REPORT) == set(real.TASKS)
    assert len(real.TASKS) >= 80
    for half in (real.CHOICE, real.REPORT):
        assert all(task.partition("-")[0] in half for task in half)
        kinds = {real.SOURCES[task.partition("-")[0]].task for task in half}
        assert kinds == {"binary", "multiclass", "regression"}


def test_a_small_task_has_its_training_rows_and_other_test_rows():
    X_train, X_test, y_train, y_test = real.split(problem(train_rows=200), seed=1)
    assert (len(X_train), len(y_train), len(X_test), len(y_test)) == (200, 200, 800, 800)
    assert set(X_train.index).isdisjoint(X_test.index)
    assert y_train.mean() == pytest.approx(0.5)


def test_an_unknown_task_is_an_error_that_lists_the_tasks():
    with pytest.raises(
        SystemExit, match=r"--tasks nonsense: .* accepted: ten, choice, report, all"
    ):
        real.task_names(["nonsense"])
    assert real.task_names(["adult", "adult-200"]) == ["adult-200", "adult"]


def test_ranks_and_ratios_are_those_of_the_mean_losses():
    problems = [problem("adult"), problem("boston", task="regression")]
    cache = ScoreCache()
    losses = {"adult": {"ours": 0.9, "CatBoost": 1.0}, "boston": {"ours": 30.0, "CatBoost": 10.0}}
    for name, by_label in losses.items():
        for label, loss in by_label.items():
            for seed, shift in ((0, -0.1), (1, 0.1)):
                record = {"loss": loss + shift, "fit": 2.0 if label == "ours" else 8.0}
                cache.put(name, label, seed, record)
    table = ranks.collect(cache, cache, ["CatBoost"], ["ours"], problems, range(2))
    found = {field["kind"]: field for field in table["fields"]}
    assert found["classification"]["rank"] == [1, 2]
    assert found["regression"]["rank"] == [2, 1]
    assert found["all"]["rank"] == [1.5, 1.5]
    assert found["classification"]["ratio"] == pytest.approx(0.9)
    assert found["regression"]["ratio"] == ranks.LARGEST_RATIO  # 3, limited
    assert found["all"]["time_ratio"] == pytest.approx(0.25)
    assert "| regression (1) | ours | 2.00 | 1.00 | 2.0000 |" in ranks.to_markdown(table)
