"""The choice: the most accurate method, or an equally good one that is easier to interpret; with reasons."""

from choice_rows import RMSE, best_row, method_row

from bosquet.study.compare.choice import choose
from bosquet.study.metrics.metric import metric_named

R2 = metric_named("r2", "regression")


def test_the_most_accurate_is_chosen_where_the_others_are_worse():
    rows = [
        best_row("forest", 1.0),
        method_row("line", 1.5, readable="yes"),
        method_row("constant", 3.0),
    ]
    found = choose(rows, RMSE)
    assert found.name == "forest"
    assert found.runner_up == "line"
    assert "best RMSE 1 on the test rows" in found.why
    assert "All 2 other methods with a score are significantly worse." in found.why


def test_the_title_of_a_metric_is_in_lower_case_inside_a_sentence():
    found = choose(
        [best_row("forest", 0.3), method_row("constant", 0.6)], metric_named("log_loss", "binary")
    )
    assert "Forest has the best log loss 0.3" in found.why


def test_an_interpretable_method_with_almost_the_best_score_is_preferred():
    rows = [
        best_row("forest", 1.0),
        method_row("line", 1.01, readable="yes", apart=False),
        method_row("constant", 3.0),
    ]
    found = choose(rows, RMSE)
    assert found.name == "line"
    assert "easier to interpret than the most accurate method, Forest" in found.why
    assert "0.5% of the best method's gain over the constant is lost" in found.why


def test_a_partly_interpretable_method_may_lose_less():
    def chosen(mean):
        rows = [best_row("forest", 1.0), method_row("stumps", mean, readable="partly", apart=False)]
        return choose([*rows, method_row("constant", 3.0)], RMSE).name

    assert chosen(1.009) == "stumps"
    assert chosen(1.012) == "forest"


def test_an_interpretable_method_that_is_worse_by_another_metric_is_not_preferred():
    mae = metric_named("mae", "regression")
    rows = [
        {**best_row("forest", 1.0), "metrics": {"mae": 0.7}},
        {**method_row("line", 1.01, readable="yes", apart=False), "metrics": {"mae": 1.0}},
        {**method_row("constant", 3.0), "metrics": {"mae": 2.5}},
    ]
    assert choose(rows, RMSE).name == "line"
    assert choose(rows, RMSE, [mae]).name == "forest"
    rows[1]["metrics"]["mae"] = 0.75
    assert choose(rows, RMSE, [mae]).name == "line"


def test_a_method_whose_probabilities_are_worse_than_the_constants_is_passed_over():
    precision = metric_named("average_precision", "binary", ["no", "yes"], positive=1)
    loss = metric_named("log_loss", "binary", ["no", "yes"], positive=1)
    rows = [
        {**best_row("centres", 0.89, readable="yes"), "metrics": {"log_loss": 0.4}},
        {**method_row("forest", 0.885, apart=False), "metrics": {"log_loss": 0.05}},
        {**method_row("constant", 0.05), "metrics": {"log_loss": 0.2}},
    ]
    found = choose(rows, precision, [precision, loss])
    assert found.name == "forest"
    assert "has better probabilities than the most accurate method, Centres" in found.why
    rows[0]["metrics"]["log_loss"] = 0.06
    assert choose(rows, precision, [precision, loss]).name == "centres"


def test_an_interpretable_method_that_loses_more_is_named_as_the_alternative():
    rows = [
        best_row("forest", 0.9),
        method_row("line", 0.85, readable="yes", apart=False),
        method_row("constant", 0.0, readable="yes"),
    ]
    found = choose(rows, R2)
    assert (found.name, found.runner_up) == ("forest", "line")
    assert (
        "Line (0.85) does not differ significantly from it and is easier to interpret" in found.why
    )


def test_the_bayes_rule_is_never_chosen_and_a_best_constant_is_reported():
    rows = [
        method_row("bayes", 0.5),
        best_row("constant", 1.0, readable="yes"),
        method_row("line", 1.1),
    ]
    found = choose(rows, RMSE)
    assert found.name == "constant"
    assert found.verdict["kind"] == "constant"
    assert (
        "No method is better than the constant (RMSE 1), and the only other method that"
        in found.why
    )
    found = choose([*rows, method_row("forest", 1.2)], RMSE)
    assert "and all 2 other methods that suit the table were run" in found.why


def test_methods_that_were_stopped_make_no_statement_about_the_columns():
    stopped = [{**method_row(name, None), "status": "stopped"} for name in ("boosting", "forest")]
    failed = {**method_row("svm", None), "status": "failed"}
    unsuited = {**method_row("lda", None), "status": "unsuited"}
    rows = [best_row("constant", 1.0, readable="yes"), method_row("line", 1.1), *stopped, failed]
    found = choose([*rows, unsuited], RMSE)
    assert found.name == "constant"
    assert found.verdict["kind"] == "inconclusive"
    assert found.why.startswith(
        "No conclusion: 2 stopped by the time limit (Boosting, Forest); 1 failed"
    )
    assert "The only other method with a score is not significantly better" in found.why
    assert "do not help" not in found.why
    assert choose([*rows[:2], unsuited], RMSE).verdict["kind"] == "constant"


def test_a_best_method_level_with_the_constant_is_no_conclusion_while_others_were_stopped():
    rows = [best_row("line", 1.0), method_row("constant", 1.01, readable="yes", apart=False)]
    assert choose(rows, RMSE).verdict["kind"] == "weak"
    rows.append({**method_row("boosting", None), "status": "not reached"})
    assert choose(rows, RMSE).verdict["kind"] == "inconclusive"


def test_methods_without_a_score_are_counted_apart_from_worse_ones():
    rows = [
        best_row("forest", 1.0),
        method_row("constant", 3.0),
        {**method_row("svm", None), "status": "stopped"},
    ]
    found = choose(rows, RMSE)
    assert found.verdict["kind"] == "model"
    assert "The other method with a score is significantly worse." in found.why
    assert found.why.endswith("Not compared: 1 stopped by the time limit (Svm).")


def test_a_method_that_was_not_compared_is_not_chosen_for_its_interpretability():
    line = {**method_row("line", 1.001, readable="yes"), "difference": None}
    found = choose([best_row("forest", 1.0), line, method_row("constant", 3.0)], RMSE)
    assert found.name == "forest"
    assert "Not compared: 1 with too few splits (Line)." in found.why


def test_a_choice_not_significantly_better_than_the_constant_has_a_warning():
    rows = [best_row("forest", 1.0), method_row("constant", 1.01, readable="yes", apart=False)]
    found = choose(rows, RMSE)
    assert found.name == "forest"
    assert found.verdict["kind"] == "weak"
    assert "not significantly better than the constant" in found.why


def test_steadiness_over_splits_is_part_of_the_reasons():
    rows = [
        best_row("forest", 1.0, scores=[0.99, 1.01]),
        method_row("line", 2.0, scores=[1.5, 2.5]),
        method_row("constant", 3.0, scores=[2.5, 3.5]),
    ]
    assert "the smallest standard deviation over splits" in choose(rows, RMSE).why


def test_without_any_score_there_is_no_choice():
    assert choose([{**method_row("line", None)}], RMSE) is None


def test_the_mean_over_splits_is_named_once_and_formatted():
    rows = [
        best_row("forest", 44961.7, scores=[44900.0, 45000.0]),
        method_row("constant", 99000.0, scores=[1.0, 2.0]),
    ]
    assert "has the best mean RMSE 44,960 over 2 splits" in choose(rows, RMSE).why
    assert (
        "has the best mean absolute error 44,960"
        in choose(rows, metric_named("mae", "regression")).why
    )
