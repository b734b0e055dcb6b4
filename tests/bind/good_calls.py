"""Valid calls of every binding of the native core, on small data.

The call fuzzer mutates them. Add a call here for each new binding; a test lists bindings without one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bosquet import _core

STUB = Path(_core.__file__ or "").parent / "_core.pyi"
STUB = STUB if STUB.exists() else Path(__file__).parents[2] / "src" / "bosquet" / "_core.pyi"

NO_WEIGHTS = np.empty(0)

BOOST_OPTIONS = {
    "max_leaf_nodes": 5,
    "min_samples_leaf": 2,
    "subsample": 0.8,
    "gradient_sampling": True,
    "features_by_node": 0.7,
    "monotone": [0, 1, 0],
    "interactions": [[0, 1], [2]],
    "learning_rate": 0.3,
    "l2_regularization": 1.0,
    "min_samples_category": 1,
    "seed": 5,
}
CART_OPTIONS = {"criterion": "gini", "max_depth": 4, "min_samples_leaf": 2, "features_per_node": 2}
RULES: dict[str, dict[str, Any]] = {
    "ewa": {"grid": [0.1, 1.0], "relative_grid": True},
    "adahedge": {},
    "squint": {},
    "fixed-share": {"share": 0.1},
    "ml-poly": {},
    "ml-prod": {},
    "boa": {},
    "ridge": {"penalty": 1.0},
    "ogd": {},
    "ftrl": {"entropy": False},
    "exp3": {"rate": 0.1},
    "exp3-ix": {"confidence": 0.9},
    "ftl": {},
}

WRITE_ONLY = ("truth", "truths", "bandit_loss")

# A name such as "learn_bins" or "BoostingFit.round", and the arguments; `self` comes first.
Call = tuple[str, tuple[Any, ...]]


def leave(numbers: Any) -> None:
    """Combine the numbers of one part: leave them as they are."""


def bound_names() -> list[str]:
    """Return the names of all bindings: functions, classes, methods and properties."""
    names = []
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            names.append(node.name)
        elif isinstance(node, ast.ClassDef) and not issubclass(
            getattr(_core, node.name), Exception
        ):
            members = [m for m in node.body if isinstance(m, ast.FunctionDef)]
            names += [f"{node.name}.{m.name}{'=' * is_setter(m)}" for m in members]
    return names


def is_setter(function: ast.FunctionDef) -> bool:
    """Return whether a function of the stub is the setter of a property; `=` is appended to its name."""
    return any(ast.unparse(item).endswith(".setter") for item in function.decorator_list)


def function_of(name: str) -> Callable[..., Any]:
    """Return the function with this name; a method takes `self` as its first argument."""
    owner, _, member = name.partition(".")
    if not member:
        return getattr(_core, name)
    cls = getattr(_core, owner)
    if member == "__init__":
        return cls
    found = vars(cls)[member.removesuffix("=")]
    if member.endswith("="):
        return lambda self, value: type(found).__set__(found, self, value)
    if isinstance(found, property) or not callable(found):
        return lambda self: type(found).__get__(found, self, type(self))
    return found


class GoodCalls:
    """Small objects of every class, and a sequence of calls on them that succeed.

    With a few thousand rows and more than 255 levels, the calls also reach the code for large nodes and
    wide columns.
    """

    def __init__(self, seed: int = 0, rows: int = 40, levels: int = 4) -> None:
        random = np.random.default_rng(seed)
        self.rows = rows
        self.X = random.normal(size=(rows, 3))
        self.X[:, 2] = random.integers(0, levels, rows)
        self.X[3, 0] = np.nan
        self.columns = [np.ascontiguousarray(column) for column in self.X.T]
        self.categories = [0, 0, levels]
        self.y = self.X[:, 1] + 0.3 * self.X[:, 2] + random.normal(size=rows) / 4
        self.weight = random.uniform(0.5, 2, rows)
        self.classes = random.integers(0, 3, rows)
        self.signs = np.where(self.y > np.median(self.y), 1.0, -1.0)
        self.windows = random.integers(0, 256, size=(12, 8, 6), dtype=np.uint8)
        self.calls: list[Call] = []
        self._data_and_loss()
        self._target_statistics()
        self._boosting()
        self._cart()
        self._trees()
        self._stumps()
        self._experts()
        self._explanations_and_files()
        self._features_of_images()
        self._detection()

    def call(self, name: str, *arguments: Any, keep: bool = True) -> Any:
        """Make the call, record it, and return its result."""
        if keep:
            self.calls.append((name, arguments))
        return function_of(name)(*arguments)

    def columns_from(self, row: int) -> list[np.ndarray]:
        """Return the columns from this row on."""
        return [column[row:] for column in self.columns]

    def _data_and_loss(self) -> None:
        call, data = self.call, self.X
        call("best_isa")
        call("all_losses")
        self.bins = call("learn_bins", data, self.categories, self.weight, 16, 30, 1, 2)
        call("learn_bins", self.columns, [], NO_WEIGHTS, 255, 1000, 1, 1)
        call("sample_run", 5, 20, 100, 30, 1)
        call("check_boosted_rows", self.rows)
        call("Bins.n_features", self.bins)
        call("Bins.edges", self.bins, 1)
        call("Bins.n_bins", self.bins, 2)
        state = call("Bins.__getstate__", self.bins)
        call("Bins.__setstate__", _core.Bins.__new__(_core.Bins), state, keep=False)
        self.calls.append(("Bins.__setstate__", (_core.Bins.__new__(_core.Bins), state)))
        self.matrix = call("bin_table", data, self.bins, "auto", 2)
        call("BinnedMatrix.n_rows", self.matrix)
        call("BinnedMatrix.bin", self.matrix, 1, 5)
        call("binned_bytes", self.bins, self.rows)
        for folder in ("", "/tmp"):
            growing = call("BinnedMatrixBuilder.__init__", self.bins, self.rows, False, folder)
            call("BinnedMatrixBuilder.append", growing, self.X[:7], "auto", 1)
            call("BinnedMatrixBuilder.append", growing, self.columns_from(7), "auto", 2)
            call("BinnedMatrixBuilder.filled_rows", growing)
            call("BinnedMatrixBuilder.finish", growing)
        self.loss = call("Loss.__init__", "squared_error", 1, 1, [])
        self.softmax = call("Loss.__init__", "log_loss", 3, 1, [])
        self.huber = call("Loss.__init__", "huber", 1, 1, [0.9])
        levels = call("Loss.__init__", "quantile", 2, 1, [0.1, 0.9])
        call("Loss.responses", levels, np.array([[2.0, 1.0], [0.0, 3.0]]), "auto")
        target, raw = self.y[None], np.zeros((1, self.rows))
        for loss in (self.loss, self.huber):
            call("Loss.outputs", loss)
            call("Loss.uses_newton_steps", loss)
            call("Loss.start_round", loss, target, raw, self.weight)
            call("Loss.value", loss, target, raw, self.weight)
            call("Loss.gradient_hessian", loss, target, raw, "auto")
            call("Loss.responses", loss, raw.T.copy(), "auto")
            call("Loss.best_constants", loss, target, self.weight)
            call("Loss.best_constants", loss, target, self.weight, raw + 0.3)
        labels, scores = self.classes[None].astype(float), np.zeros((3, self.rows))
        call("Loss.value", self.softmax, labels, scores, NO_WEIGHTS)
        call("Loss.gradient_hessian", self.softmax, labels, scores, "baseline")
        call("Loss.responses", self.softmax, scores.T.copy())
        call("Loss.best_constants", self.softmax, labels, NO_WEIGHTS)
        call("Loss.best_constants", self.softmax, labels, NO_WEIGHTS, scores + 0.1)

    def _target_statistics(self) -> None:
        call, levels = self.call, self.categories[2]
        numbers, keys = call("number_levels", self.X, [2], [levels])
        call("number_levels", [self.columns[2], self.classes], [0, 1], [levels, 3])
        given = (
            [numbers],
            [keys.size],
            self.y[None].copy(),
            self.weight,
            np.array([0.5]),
            1.0,
            3,
            7,
            0,
            2,
        )
        call("held_out_statistics", *given)
        call("held_out_gains", *given)
        values, unknown = np.ones((keys.size, 2), np.float32), np.zeros((1, 2), np.float32)
        tables = call("TargetTables.__init__", [[2]], [[levels]], [keys], [values], [unknown])
        call("TargetTables.n_columns", tables)
        call("TargetTables.derive", tables, self.X, 2)

    def _boosting(self) -> None:
        call, target = self.call, self.y[None].copy()
        self.ensemble = call("Ensemble.__init__", 3, 1, [0.5], self.categories)
        self.several = call("Ensemble.__init__", 3, 3, [0.0, 0.1, -0.1], self.categories)
        options = dict(BOOST_OPTIONS)
        fit = call(
            "BoostingFit.__init__",
            self.matrix,
            self.bins,
            target,
            self.weight,
            self.loss,
            options,
            "auto",
            2,
        )
        call("BoostingFit.add_version", fit, self.matrix)
        call("BoostingFit.set_validation", fit, self.matrix, target, NO_WEIGHTS)
        call("BoostingFit.start", fit, np.zeros((1, self.rows)), np.zeros((1, self.rows)))
        call("BoostingFit.start_from", fit, np.array([0.5]))
        call("BoostingFit.round", fit, self.ensemble)
        call("BoostingFit.train_loss", fit)
        call("BoostingFit.validation_loss", fit)
        call("BoostingFit.raw", fit, True)
        call("BoostingFit.timings", fit)
        part = call("Part.__init__", leave, leave, 2 * self.rows, [(7, self.rows)])
        call("Part.all_rows", part)
        call("Part.n_rows", part)
        call("Loss.best_constants", self.loss, target, self.weight, None, part)
        fit_of_part = call(
            "BoostingFit.__init__", self.matrix, self.bins, target, self.weight, self.loss, options,
            "auto", 2, part,
        )  # fmt: skip
        call("BoostingFit.set_validation", fit_of_part, self.matrix, target, NO_WEIGHTS, part)
        call("BoostingFit.round", fit_of_part, self.ensemble)
        labels = self.classes[None].astype(float)
        plain = {"max_leaf_nodes": 4, "min_samples_leaf": 1}
        of_classes = call(
            "BoostingFit.__init__",
            self.matrix,
            self.bins,
            labels,
            NO_WEIGHTS,
            self.softmax,
            plain,
            "baseline",
            1,
        )
        for _ in range(3):
            call("BoostingFit.round", of_classes, self.several)
        call("BoostingFit.train_loss", of_classes)
        exact = call(
            "BoostingFit.__init__", self.matrix, self.bins, target, self.weight, self.huber,
            {"newton": False}, "auto", 1,
        )  # fmt: skip
        call("BoostingFit.round", exact, self.ensemble)
        pairs = np.ones((1, self.rows, 2), dtype=np.float32)
        call(
            "BoostingFit.round",
            exact,
            self.ensemble,
            pairs,
            lambda leaf, leaves, output: np.zeros(leaves),
        )

    def _cart(self) -> None:
        call = self.call
        self.coded = call("code_values", self.X, self.categories, 2)
        coarse = call("code_bins", self.columns, self.bins, "auto", 1)
        call("coded_bytes", self.bins, self.rows)
        for folder in ("", "/tmp"):
            codes = call("CodedTableBuilder.__init__", self.bins, self.rows, folder)
            call("CodedTableBuilder.append", codes, self.X[:7], "auto", 1)
            call("CodedTableBuilder.append", codes, self.columns_from(7), "auto", 2)
            call("CodedTableBuilder.finish", codes)
        call("CodedTable.n_rows", self.coded)
        call("CodedTable.n_codes", self.coded, 2)
        classes, numbers = self.classes.astype(np.uint32), self.y[None].copy()
        options = dict(CART_OPTIONS)
        keys = [3, 2**64 - 1]
        of_classes = call("CartFit.__init__", self.coded, classes, 3, self.weight, options, 2)
        self.forest = call("Ensemble.__init__", 3, 3, [0.0] * 3, self.categories, True)
        call("CartFit.grow", of_classes, self.forest, keys, self.rows, True, True)
        call("CartFit.grow", of_classes, self.forest, [7], 10, False)
        tree = call("CartFit.grow_one", of_classes, 5)
        call("CartTree.details", tree)
        call("CartTree.add_to", tree, self.forest)
        for criterion in ("squared_error", "absolute_error"):
            given = {**options, "criterion": criterion, "surrogates": 1, "competitors": 1}
            of_numbers = call("CartFit.__init__", coarse, numbers, 1, NO_WEIGHTS, given, 1)
            call("CartTree.details", call("CartFit.grow_one", of_numbers, 0))
        several = np.stack([classes, 3 + classes % 2]).astype(np.uint32)
        of_several = call(
            "CartFit.__init__",
            self.coded,
            several,
            5,
            NO_WEIGHTS,
            {"criterion": "entropy"},
            1,
            [3, 2],
        )
        call("CartFit.grow_one", of_several, 1)
        call("bag_counts", 10, 7, True, 5)
        call("bag_counts", 10, 7, False, 5)

    def _trees(self) -> None:
        call, data = self.call, self.X
        for model in (self.ensemble, self.several, self.forest):
            for name in ("n_trees", "n_outputs", "n_features", "n_rounds", "vector_leaves", "base"):
                call(f"Ensemble.{name}", model)
            call("Ensemble.categories", model)
            call("Ensemble.n_compilations", model)
            call("Ensemble.max_absolute_prediction", model)
            call("Ensemble.holds_class_shares", model, [model.n_outputs])
            trees = model.n_trees
            call("Ensemble.predict_raw", model, data, 0, trees, 2, "auto")
            call("Ensemble.predict_raw", model, np.resize(data, (2400, 3)), 0, trees)
            call("Ensemble.predict_rows", model, data)
            call("Ensemble.predict_plain", model, self.columns)
            call("Ensemble.apply", model, data, 2)
            arrays = call("Ensemble.tree_arrays", model, 0)
            call("Ensemble.importance", model, "gain")
            call("importance_by_tree", model, "split")
            call("with_hard_votes", model, [model.n_outputs])
            call("permuted_leaves", model, 0, data, np.arange(5, dtype=np.uint32), 3)
            copy = call("Ensemble.copy", model)
            state = call("Ensemble.__getstate__", model)
            empty = _core.Ensemble.__new__(_core.Ensemble)
            call("Ensemble.__setstate__", empty, state, keep=False)
            self.calls.append(
                ("Ensemble.__setstate__", (_core.Ensemble.__new__(_core.Ensemble), state))
            )
            values = arrays["value"].reshape(len(arrays["feature"]), -1)
            names = ("feature", "threshold", "left", "missing_left", "left_categories")
            rest = (arrays["gain"].astype(float), arrays["cover"].astype(float))
            call("add_tree", copy, *(arrays[name] for name in names), values, *rest)
            call("Ensemble.truncate", copy, 0)
        call("Ensemble.predict_rows", self.several, data[0], self.softmax)

    def _stumps(self) -> None:
        call, classes = self.call, self.classes.astype(np.uint32)
        search = call("StumpSearch.__init__", self.X, self.categories, None, "auto", 2)
        binned = call("StumpSearch.__init__", self.columns, self.categories, self.bins, "auto", 1)
        call("StumpSearch.n_rows", search)
        call("StumpSearch.n_features", search)
        stump = call("StumpSearch.find_best", search, self.signs, self.weight, "error")
        call("StumpSearch.find_best", binned, self.y, self.weight, "squared")
        nominal = call("StumpSearch.find_best_by_class", binned, classes, 3, self.weight)
        signs = np.where(classes == np.arange(3)[:, None], 1.0, -1.0)
        call("StumpSearch.find_best_by_signs", search, signs, np.ones((3, self.rows)))
        for name in (
            "feature",
            "threshold",
            "left_categories",
            "categorical",
            "missing_left",
            "values",
        ):
            call(f"Stump.{name}", stump)
        call("Stump.criterion_value", stump)
        call("Stump.gain", stump)
        call("Stump.on_rows", nominal, search)
        call("Stump.on_values", stump, self.columns[0])
        model = call("Ensemble.__init__", 3, 1, [0.0], self.categories)
        call("Stump.add_to", stump, model, 0.5, np.array([[1.0], [-1.0]]))
        state = call("Stump.__getstate__", stump)
        call("Stump.__setstate__", _core.Stump.__new__(_core.Stump), state, keep=False)
        self.calls.append(("Stump.__setstate__", (_core.Stump.__new__(_core.Stump), state)))
        for variant in ("discrete", "logit"):
            boost = call("StumpBooster.__init__", search, self.signs, self.weight, variant, 1.0)
            call("StumpBooster.round", boost, model)
            call("StumpBooster.margins", boost)
            call("StumpBooster.weights", boost)
        blocks = [(0, self.X.T[:2].copy()), (2, np.float32(self.X.T[2:]))]
        call("find_best_of_blocks", blocks, self.signs, self.weight, "exponential", 2, "auto")

    def _experts(self) -> None:
        call = self.call
        forecasts, truths = self.y[:, None] + np.array([0.1, -0.5, 1.0]), self.y.copy()
        awake = np.ones((self.rows, 3), dtype=np.uint8)
        awake[4, 1] = 0
        for rule, settings in RULES.items():
            mixture = self._mixture(rule, settings)
            self.calls.append(("ExpertMixture.__init__", (rule, [0.2, 0.3, 0.5], "square")))
            bandit, block = mixture.bandit, 1 if mixture.bandit else 4
            mask = None if rule == "ridge" else awake
            losses = np.abs(forecasts) if bandit else forecasts
            call("ExpertMixture.run", mixture, losses, truths, mask, block, True)
            call("ExpertMixture.open", mixture, losses[: 1 if bandit else 2])
            for name in ("forecasts", "awake", "weights", "predictions", "chosen"):
                call(f"ExpertMixture.open_{name}", mixture)
            if bandit:
                call("ExpertMixture.bandit_loss=", mixture, 0.3)
            else:
                call("ExpertMixture.truths=", mixture, truths[:2])
            call("ExpertMixture.open", mixture, losses[3], None)
            call("ExpertMixture.truth=", mixture, 0.1)
            call("ExpertMixture.open", mixture, losses[3])
            own, excess = np.array([0.5]), np.array([0.1, 0.0, -0.1])
            if rule != "ridge":
                call("ExpertMixture.close_with_losses", mixture, losses[3:4] ** 2, own, own, excess)
            call("ExpertMixture.predict", mixture, losses, mask)
            call("ExpertMixture.weights", mixture)
            call("ExpertMixture.bounds", mixture)
            call("ExpertMixture.copy", mixture)
            call("ExpertMixture.bound_with_shifts", mixture, 2)
            call("ExpertMixture.bound_to_combination", mixture, np.array([0.2, 0.8, 0.0]))
            for name in (
                "n_experts",
                "is_open",
                "open_rows",
                "in_range",
                "bandit",
                "draws",
                "rate",
            ):
                call(f"ExpertMixture.{name}", mixture)
            call("ExpertMixture.totals", mixture)
            call("ExpertMixture.copy", mixture)
            # Write-only properties: reading one raises AttributeError.
            self.calls += [(f"ExpertMixture.{name}", (mixture,)) for name in WRITE_ONLY]
            call("ExpertMixture.restore", mixture, call("ExpertMixture.state", mixture))

    @staticmethod
    def _mixture(rule: str, settings: dict[str, Any]) -> Any:
        return _core.ExpertMixture(rule, [0.2, 0.3, 0.5], "square", range=2.0, **settings)

    def _explanations_and_files(self) -> None:
        call, data = self.call, self.X
        model = self.several
        call("shap_values", model, data[:5], None, True, 2, "auto")
        call("shap_values", model, data[:5], data[:3])
        call("shap_values", model, data[:5], data[:3], True, 1, "auto", [0, 1, 0])
        grids = [[-1.0, 0.0, 1.0], [0.5]]
        call("conditional_predictions", model, data, [0, 1], grids, 2)
        call("mean_predictions", model, data, [0, 1], grids, np.full(self.rows, 1 / self.rows), 1)
        call("expected_predictions", model, [0, 2], np.zeros((4, 2)))
        file = call("write_model", model, b"{}")
        call("read_model", file)
        call("checksum", file)
        parts = call("write_parts", [file, b""], b"{}")
        call("read_parts", parts)
        call("holds_parts", parts)

    def _features_of_images(self) -> None:
        call = self.call
        rectangles = np.array(
            [
                [[1, 1, 4, 4], [1, 1, 2, 4], [0, 0, 0, 0]],
                [[3, 0, 2, 2], [3, 1, 1, 1], [0, 0, 0, 0]],
            ],
            dtype=np.int32,
        )
        weights = np.array([[-1, 2, 0], [-1, 3, 0]], dtype=np.float32)
        tilted = np.array([0, 1], dtype=np.uint8)
        self.features = (rectangles, weights, tilted)
        for kind in ("plain", "squared", "tilted"):
            call("integral_image", self.windows, kind)
        call("window_contrasts", self.windows, 2)
        call("haar_values", self.windows, *self.features, True, "auto", 2)
        positive = np.arange(len(self.windows), dtype=np.uint8) % 2
        search = call(
            "HaarSearch.__init__", self.windows, positive, *self.features, True, 1000, "auto", 2
        )
        for name in ("n_rows", "n_features", "n_kept"):
            call(f"HaarSearch.{name}", search)
        for criterion in ("error", "exponential", "squared"):
            call("HaarSearch.find_best", search, np.ones(len(self.windows)), criterion)
        call("HaarSearch.values", search, 1)

    def _detection(self) -> None:
        call = self.call
        stage = np.array([-0.5, -0.5], dtype=np.float32)
        nodes = (
            np.array([0, 1], dtype=np.int32),
            np.array([0.0, 0.1], dtype=np.float32),
            np.array([0, 0], dtype=np.int32),
            np.array([-1, -1], dtype=np.int32),
            np.array([-1.0, 1.0, 1.0, -1.0], dtype=np.float32),
            np.array([1, 1], dtype=np.uint32),
            np.array([1, 1], dtype=np.uint32),
        )
        detector = call("Detector.__init__", 6, 8, *self.features, *nodes, stage)
        image = np.random.default_rng(1).integers(0, 256, size=(30, 25), dtype=np.uint8)
        options = {"scale_factor": 1.3, "max_width": 20, "max_height": 20, "threads": 2}
        call("Detector.detect", detector, image, 2, 0.2, options, True)
        call("Detector.scan", detector, image, options)
        call("Detector.depths", detector, self.windows, 2, "auto")
        boxes = np.array([[1, 1, 5, 5], [2, 1, 5, 5], [9, 9, 3, 3]], dtype=np.int32)
        call("group_windows", boxes, np.ones(3, dtype=np.int32), np.ones(3), 1, 0.2)
        call("resize_image", image, 11, 7)
