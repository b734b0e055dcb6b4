"""Rows of a ranking of methods, for the tests of the choice."""

from stand_ins import properties

from bosquet.study.metrics.metric import metric_named

RMSE = metric_named("rmse", "regression")


def method_row(name, mean, *, readable="no", apart=True, scores=None):
    return {
        "name": name,
        "title": name.capitalize(),
        "status": "done",
        "finished": True,
        "subsampled": False,
        "rows_used": 80,
        "interval": None,
        "mean": mean,
        "scores": scores or [mean],
        "properties": properties(readable),
        "difference": {"mean": 0.0, "low": 0.0, "high": 0.0, "distinguishable": apart},
    }


def best_row(name, mean, **more):
    return {**method_row(name, mean, **more), "difference": None}
