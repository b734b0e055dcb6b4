# Written by tools/make_stubs.py with nanobind 3.1.0: do not edit.
# ruff: noqa
# fmt: off
"""
Native core of bosquet: binning, losses, tree growing, boosting, prediction.
"""

from collections.abc import Callable, Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


class InputError(ValueError):
    pass

class ModelFileError(ValueError):
    pass

def best_isa() -> str:
    """
    Return the best instruction set of this processor, which isa='auto' selects.
    """

class Bins:
    """
    The bins of each column: edges of quantitative columns, categories of categorical ones.
    """

    @property
    def n_features(self) -> int: ...

    def edges(self, feature: int) -> NDArray[numpy.float64]:
        """Return the upper edges of the bins of a quantitative column."""

    def n_bins(self, feature: int) -> int:
        """
        Return the number of bins of a feature, including the one for missing values.
        """

    def __getstate__(self) -> list[tuple[int, bool, list[float]]]: ...

    def __setstate__(self, state: Sequence[tuple[int, bool, Sequence[float]]]) -> None: ...

def learn_bins(data: object, categories: Sequence[int], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_bins: int, sample_rows: int, seed: int, threads: int) -> Bins:
    """Learn the bins of each column of a matrix or of a list of columns."""

def sample_run(first: int, rows: int, all_rows: int, limit: int, seed: int) -> NDArray[numpy.uint32]:
    """
    Return which of the rows [first, first + rows) of `all_rows` rows belong to the sample from which bins are learned, counted from `first`.
    """

class BinnedMatrix:
    """A table whose values are replaced by the numbers of their bins."""

    @property
    def n_rows(self) -> int: ...

    def bin(self, feature: int, row: int) -> int:
        """Return the bin of one value; 0 is the bin of missing values."""

def binned_bytes(bins: Bins, rows: int) -> tuple:
    """
    Return the bytes of a binned matrix without the copies of its features as columns, and the bytes of these copies.
    """

class BinnedMatrixBuilder:
    """A binned matrix whose rows are appended in batches."""

    def __init__(self, bins: Bins, rows: int, has_columns: bool, folder: str, max_column_copies: int = 0) -> None:
        """
        `has_columns` is whether features are stored as columns too, which makes splits faster. If not, a fit may copy as many columns as `max_column_copies`. With a folder, the bins are in a temporary file there; with an empty string, in memory.
        """

    def append(self, data: object, isa: str, threads: int) -> None:
        """Bin the next rows."""

    def finish(self) -> BinnedMatrix:
        """Return the matrix after its last row."""

    @property
    def filled_rows(self) -> int: ...

def bin_table(data: object, bins: Bins, isa: str, threads: int) -> BinnedMatrix:
    """Replace the values of a table by the numbers of their bins."""

def number_levels(data: object, columns: Sequence[int], levels: Sequence[int]) -> tuple:
    """
    Number the combinations of levels of some columns that occur. Return the number of each row and the keys of the combinations, ascending.
    """

def held_out_statistics(numbers: list, levels: Sequence[int], target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], prior: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], strength: float, folds: int, seed: int, version: int, threads: int = 1) -> NDArray[numpy.float32]:
    """
    Return, for each group and row, the mean targets of the rows of the same level in other random folds, and their weight, shape (n_groups * (n_targets + 1), n_rows). The prior means count as rows of weight `strength`.
    """

def held_out_gains(numbers: list, levels: Sequence[int], target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], prior: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], strength: float, folds: int, seed: int, version: int, threads: int = 1) -> NDArray[numpy.float64]:
    """
    Return how well these means of each group predict the target: the decrease of the squared error by the best multiple, divided by the variance of the target.
    """

class TargetTables:
    """
    Tables of values by combination of levels, from which the columns of new rows are derived.
    """

    def __init__(self, columns: Sequence[Sequence[int]], levels: Sequence[Sequence[int]], keys: list, values: list, unknown: list) -> None: ...

    @property
    def n_columns(self) -> int: ...

    def derive(self, data: object, threads: int = 1) -> NDArray[numpy.float32]:
        """
        Return the derived columns of the rows of a table, shape (n_columns, n_rows).
        """

def all_losses() -> list:
    """
    Return the declarations of all losses, one dict per loss: its name, the accepted targets (any, non_negative, positive, two_classes), the scale of its raw predictions (target, unitless), the open interval of its parameter or None, and what boosting may assume about it.
    """

class Loss:
    """A loss with its derivatives."""

    def __init__(self, name: str, outputs: int, targets: int, parameters: Sequence[float]) -> None: ...

    @property
    def outputs(self) -> int: ...

    @property
    def uses_newton_steps(self) -> bool: ...

    def start_round(self, target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], raw: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Set the parameters that the loss derives from the residuals before a round.
        """

    def value(self, target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], raw: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """Return the weighted sum of the losses of all rows."""

    def gradient_hessian(self, target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], raw: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], isa: str = 'auto') -> tuple:
        """
        Return gradients and Hessians with respect to the raw predictions, shape (n_outputs, n_rows).
        """

    def responses(self, raw: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], isa: str = 'auto') -> NDArray[numpy.float64]:
        """
        Convert raw predictions of shape (n_rows, n_outputs) to the scale of the target: means, quantiles (sorted by their levels) or class probabilities.
        """

    def best_constants(self, target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], raw: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, part: Part | None = None) -> NDArray[numpy.float64]:
        """
        Return for each output the constant raw prediction with the smallest loss; with raw predictions of shape (n_outputs, n_rows), the constant to add to them.
        """

class Ensemble:
    """Trees and the base value to which their predictions are added."""

    def __init__(self, n_features: int, n_outputs: int, base: Sequence[float], categories: Sequence[int], vector_leaves: bool = False) -> None: ...

    @property
    def n_trees(self) -> int: ...

    @property
    def n_outputs(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def n_rounds(self) -> int:
        """
        Number of boosting rounds: each round has one tree per output, or a single tree with vector leaves.
        """

    @property
    def vector_leaves(self) -> bool:
        """Whether every leaf holds one value per output."""

    @property
    def n_compilations(self) -> int:
        """
        How often the trees were compiled to the form that predicts many rows fast.
        """

    @property
    def base(self) -> NDArray[numpy.float64]: ...

    @property
    def categories(self) -> NDArray[numpy.uint32]: ...

    def predict_raw(self, data: object, first: int, last: int, threads: int = 1, isa: str = 'auto') -> NDArray[numpy.float64]:
        """
        Return the sums of trees [first, last), shape (n_rows, n_outputs). If first == 0, the base is added.
        """

    def predict_rows(self, values: Annotated[NDArray, dict(order='C', device='cpu', writable=False)], loss: Loss | None = None) -> NDArray[numpy.float64]:
        """
        Return raw predictions of one row (n_features,) or few rows (n_rows, n_features) with the least latency, shape (n_rows, n_outputs). With a loss, return its responses instead.
        """

    def predict_plain(self, data: object) -> NDArray[numpy.float64]:
        """
        Return raw predictions from the simplest implementation, which is slow.
        """

    def apply(self, data: object, threads: int = 1) -> NDArray[numpy.int32]:
        """
        Return the node number of the leaf of each row, shape (n_rows, n_trees).
        """

    def tree_arrays(self, tree: int) -> dict:
        """
        Return a tree as a dict of arrays with one entry per node; the children of a leaf are -1. With vector leaves 'value' has shape (n_nodes, n_outputs).
        """

    def importance(self, kind: str) -> NDArray[numpy.float64]:
        """
        Return for each feature the sum of the gains of its splits ('gain') or their number ('split').
        """

    def holds_class_shares(self, classes: Sequence[int]) -> bool:
        """
        Return whether every leaf holds class shares; `classes` is the number of classes per target.
        """

    def max_absolute_prediction(self) -> NDArray[numpy.float64]:
        """Return for each output an upper bound of the absolute raw prediction."""

    def truncate(self, n_trees: int) -> None:
        """Keep only the first n_trees trees."""

    def copy(self) -> Ensemble:
        """Return an independent copy."""

    def __getstate__(self) -> bytes: ...

    def __setstate__(self, state: bytes) -> None: ...

class Part:
    """The rows of this process as a part of all rows of a fit."""

    def __init__(self, add: Callable, maximise: Callable, all_rows: int, runs: Sequence[tuple[int, int]]) -> None:
        """
        `add` and `maximise` replace the integers of an array by their sums, or by the largest ones, over all parts; all parts call them in the same order. `runs` lists the runs of consecutive rows in this part: the number of the first row among all rows, and the number of rows.
        """

    @property
    def all_rows(self) -> int: ...

    @property
    def n_rows(self) -> int: ...

class BoostingFit:
    """
    A gradient boosting fit in progress; each call of round() runs one boosting round.
    """

    def __init__(self, matrix: BinnedMatrix, bins: Bins, target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], loss: Loss, options: dict, isa: str, threads: int, part: Part | None = None) -> None:
        """With a part, the rows are combined with those of the other parts."""

    def set_validation(self, matrix: BinnedMatrix, target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], part: Part | None = None) -> None:
        """Set the validation set, binned with the same bins."""

    def add_version(self, matrix: BinnedMatrix) -> None:
        """
        Add another version of the training rows, with the same bins. The version that the fit was created with gives the leaf values; the others give the splits, in turn.
        """

    def start(self, raw: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], validation_raw: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None) -> None:
        """Start from raw predictions of shape (n_outputs, n_rows)."""

    def start_from(self, constants: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Start from one constant per output, the same for every row."""

    def round(self, ensemble: Ensemble, gradients: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None = None, minimisers: Callable | None = None) -> None:
        """
        Run one round: add one tree per output to the ensemble. `gradients` of shape (n_outputs, n_rows, 2) holds pairs of gradient and Hessian that replace those of the loss. `minimisers(leaf_of_row, n_leaves, output)` returns the leaf values in that case, unless the option `newton` is set.
        """

    def train_loss(self) -> float:
        """Return the mean training loss over at most 16,384 evenly spaced rows."""

    def validation_loss(self) -> float:
        """Return the mean loss on the validation set."""

    def raw(self, validation: bool = False) -> NDArray[numpy.float64]:
        """Return the raw predictions, shape (n_outputs, n_rows)."""

    def timings(self) -> dict:
        """Return the seconds spent in each phase of the rounds."""

def check_boosted_rows(rows: int) -> None:
    """Raise a ValueError if a fit cannot have this many training rows."""

class CodedTable:
    """A table whose values are replaced by integer codes in the same order."""

    @property
    def n_rows(self) -> int: ...

    def n_codes(self, feature: int) -> int:
        """
        Return the number of codes of a feature, including the one for missing values.
        """

def code_values(data: object, categories: Sequence[int], threads: int) -> CodedTable:
    """Code a table with one code per distinct value of each column."""

def code_bins(data: object, bins: Bins, isa: str, threads: int) -> CodedTable:
    """Code a table with one code per bin of each column."""

def coded_bytes(bins: Bins, rows: int) -> int:
    """Return the bytes of a table of codes, one per bin."""

class CodedTableBuilder:
    """A table of codes, one per bin, whose rows are appended in batches."""

    def __init__(self, bins: Bins, rows: int, folder: str = '') -> None:
        """
        Create an empty table: in temporary files of the folder, in memory if it is empty.
        """

    def append(self, data: object, isa: str, threads: int) -> None:
        """Code the next rows."""

    def finish(self) -> CodedTable:
        """Return the table after its last row."""

class CartTree:
    """A tree with the statistics of its nodes."""

    def details(self) -> dict:
        """
        Return rows, weight, impurity, value, competing splits and surrogate splits of all nodes.
        """

    def add_to(self, ensemble: Ensemble) -> None:
        """Append the tree to an ensemble."""

class CartFit:
    """Grows CART trees (split by impurity) on one table and target."""

    def __init__(self, table: CodedTable, target: object, outputs: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: dict, threads: int, class_counts: Sequence[int] = []) -> None: ...

    def grow(self, ensemble: Ensemble, keys: Sequence[int], draws: int, replace: bool, balanced: bool = False) -> None:
        """Append one tree per key, each grown on a bag of `draws` rows."""

    def grow_one(self, key: int) -> CartTree:
        """Grow one tree on all rows."""

def bag_counts(rows: int, draws: int, replace: bool, key: int) -> NDArray[numpy.uint32]:
    """Return how often each row occurs in the bag of the tree with this key."""

def add_tree(ensemble: Ensemble, feature: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threshold: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], left: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], missing_left: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], left_categories: list, value: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], gain: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cover: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
    """
    Append a tree given by arrays with one entry per node, in the format of tree_arrays.
    """

def with_hard_votes(ensemble: Ensemble, class_counts: Sequence[int] = []) -> Ensemble:
    """
    Return a copy whose leaves vote for one class instead of holding class shares.
    """

def importance_by_tree(ensemble: Ensemble, kind: str) -> NDArray[numpy.float64]:
    """
    Return for each tree and feature the sum of the gains of its splits, or their number.
    """

def permuted_leaves(ensemble: Ensemble, tree: int, data: object, rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], key: int) -> tuple:
    """
    Return the features that a tree uses, and the leaves that the rows reach: first with their own values, then with each of these features permuted among the rows.
    """

class Stump:
    """A decision stump: one split on one feature, with a value on each side."""

    @property
    def feature(self) -> int:
        """Number of the feature; -1 for a constant stump."""

    @property
    def threshold(self) -> float:
        """Values <= threshold go left."""

    @property
    def left_categories(self) -> list[int]:
        """Category codes of a categorical feature that go left."""

    @property
    def categorical(self) -> bool:
        """Whether the split is on categories instead of a threshold."""

    @property
    def missing_left(self) -> bool:
        """Whether missing values go left."""

    @property
    def values(self) -> NDArray[numpy.float64]:
        """Predictions on the left and on the right side, shape (2, n_outputs)."""

    @property
    def criterion_value(self) -> float:
        """Value of the criterion in units of the weights; smaller is better."""

    @property
    def gain(self) -> float:
        """Decrease of the criterion compared with the best constant."""

    def on_rows(self, search: StumpSearch) -> NDArray[numpy.float64]:
        """
        Return the predictions for the training rows, shape (n_rows,) or (n_outputs, n_rows).
        """

    def on_values(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
        """Return the predictions for rows with these values of the feature."""

    def add_to(self, ensemble: Ensemble, scale: float, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None) -> None:
        """
        Append the stump to an ensemble as a tree. Its leaves hold `values` (default: those of the stump) times `scale`.
        """

    def __getstate__(self) -> tuple[int, bool, bool, float, list[int], list[float], float, float, float, float]: ...

    def __setstate__(self, arg: tuple, /) -> None: ...

class StumpSearch:
    """
    A table that is prepared once and searched for the best stump in every round.
    """

    def __init__(self, columns: object, categories: Sequence[int], bins: Bins | None, isa: str, threads: int) -> None:
        """
        If bins is None, every threshold between two distinct values is searched.
        """

    @property
    def n_rows(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    def find_best(self, target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], criterion: str) -> Stump:
        """
        Return the stump that minimises the weighted 'error' or 'exponential' loss for targets -1 and 1, or the weighted 'squared' error for any targets.
        """

    def find_best_by_class(self, target: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Stump:
        """
        Return the stump with one class per side that minimises the weighted 0-1 error.
        """

    def find_best_by_signs(self, target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Stump:
        """
        Return the best stump with a sign per class on each side. Arrays have shape (n_classes, n_rows).
        """

class StumpBooster:
    """Boosting on stumps for two classes, one round per call."""

    def __init__(self, search: StumpSearch, target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], variant: str, learning_rate: float) -> None: ...

    def round(self, ensemble: Ensemble) -> dict:
        """
        Run one round. Return a dict of error, alpha, z, training_error, taken and stump. A stump without error, or not better than chance, is returned but not added (taken=False).
        """

    def margins(self) -> NDArray[numpy.float64]:
        """
        Return the margin y f(x) of each row, where f is the weighted sum of the stumps.
        """

    def weights(self) -> NDArray[numpy.float64]:
        """Return the distribution over the rows for the next round."""

def find_best_of_blocks(blocks: object, target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], criterion: str, threads: int = 1, isa: str = 'auto') -> Stump:
    """
    Return the best stump over features that are given lazily: an iterable of pairs (number of the first feature, floats of shape (n_features, n_rows)). No block is kept in memory.
    """

class ExpertMixture:
    """An online mixture of experts: a rule that weights them, and a loss."""

    def __init__(self, rule: str, prior: Sequence[float], loss: str, *, range: float = 0.0, rate: float = 0.0, grid: Sequence[float] = [], relative_grid: bool = False, share: float = 0.0, penalty: float = 0.0, entropy: bool = False, confidence: float = 0.0, quantile: float = 0.5, classes: int = 0, linearised: bool = True, randomised: bool = False, seed: int = 0) -> None: ...

    @property
    def n_experts(self) -> int: ...

    @property
    def is_open(self) -> bool: ...

    @property
    def open_rows(self) -> int: ...

    @property
    def in_range(self) -> bool: ...

    @property
    def bandit(self) -> bool: ...

    @property
    def draws(self) -> bool: ...

    @property
    def rate(self) -> float: ...

    @property
    def totals(self) -> dict: ...

    def open(self, forecasts: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], awake: Annotated[NDArray[numpy.uint8], dict(order='C', device='cpu', writable=False)] | None = None) -> object:
        """
        Open a step: return the predictions from its forecasts; its truth closes it.
        """

    def open_forecasts(self) -> NDArray[numpy.float64]:
        """Return the forecasts of the open step, 0 for experts that are asleep."""

    def open_awake(self) -> NDArray[numpy.uint8]:
        """
        Return which experts are awake in the open step, shape (n_rows, n_experts).
        """

    def open_weights(self) -> NDArray[numpy.float64]:
        """Return the weights of the open step, shape (n_rows, n_experts)."""

    def open_predictions(self) -> NDArray[numpy.float64]:
        """Return the predictions of the open step, shape (n_rows, n_outputs)."""

    def open_chosen(self) -> NDArray[numpy.int64]:
        """
        Return the expert drawn for each row of the open step (randomised and bandit rules).
        """

    @property
    def truth(self) -> object:
        """
        The observed value (write-only). Assigning it closes the open step and updates the rule.
        """

    @truth.setter
    def truth(self, arg: float, /) -> None: ...

    @property
    def truths(self) -> object:
        """The same for a step with several rows."""

    @truths.setter
    def truths(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def bandit_loss(self) -> object:
        """The same with the loss of the drawn expert (bandit feedback)."""

    @bandit_loss.setter
    def bandit_loss(self, arg: float, /) -> None: ...

    def close_with_losses(self, losses: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], mixture_loss: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], uniform_loss: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], excess: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Close the open step with losses that the caller has computed."""

    def run(self, forecasts: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], truths: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], awake: Annotated[NDArray[numpy.uint8], dict(order='C', device='cpu', writable=False)] | None, block: int, keep: bool) -> dict:
        """
        Open and close many steps of `block` rows each; return their history if `keep`.
        """

    def predict(self, forecasts: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], awake: Annotated[NDArray[numpy.uint8], dict(order='C', device='cpu', writable=False)] | None = None) -> NDArray[numpy.float64]:
        """Return the predictions of each row with the current weights."""

    def weights(self, awake: Annotated[NDArray[numpy.uint8], dict(order='C', device='cpu', writable=False)] | None = None) -> NDArray[numpy.float64]:
        """Return the weights of the next step."""

    def bounds(self) -> NDArray[numpy.float64]:
        """
        Return an upper bound of the regret to each expert; NaN where none is known.
        """

    def bound_with_shifts(self, shifts: int) -> float:
        """
        Return an upper bound of the regret to the best sequence of experts with that many shifts.
        """

    def bound_to_combination(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """
        Return an upper bound of the regret to a fixed combination of the experts.
        """

    def copy(self) -> ExpertMixture:
        """Return an independent copy, with the open step."""

    def state(self) -> dict:
        """Return everything that the mixture has learned, as a dict of lists."""

    def restore(self, fields: dict) -> None:
        """Set the state that state() returned."""

def shap_values(ensemble: Ensemble, data: object, background: object | None = None, interactions: bool = False, threads: int = 1, isa: str = 'auto', players: Sequence[int] = []) -> tuple:
    """
    Return the Shapley values of the raw predictions, shape (n_rows, n_players, n_outputs) or with interactions (n_rows, n_players, n_players, n_outputs), and the base values, shape (n_outputs,). `players` holds the player of each feature; features of one player are known or unknown together. Without it every feature is a player.
    """

def conditional_predictions(ensemble: Ensemble, data: object, features: Sequence[int], grids: Sequence[Sequence[float]], threads: int = 1) -> NDArray[numpy.float64]:
    """
    Return raw predictions of shape (n_rows, n_points, n_outputs), where n_points counts the points of all grids. One feature is set to a point of its grid, the others keep their values.
    """

def mean_predictions(ensemble: Ensemble, data: object, features: Sequence[int], grids: Sequence[Sequence[float]], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> NDArray[numpy.float64]:
    """
    Return the weighted means over rows of conditional_predictions, shape (n_points, n_outputs). The weights must sum to 1.
    """

def expected_predictions(ensemble: Ensemble, features: Sequence[int], points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
    """
    Return raw predictions of shape (n_points, n_outputs) with some features at given values. The other features are averaged out with the covers of the nodes.
    """

def integral_image(images: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], kind: str) -> NDArray[numpy.int64]:
    """
    Return the integral images ('plain', 'squared' or 'tilted') of a stack of grey images, shape (n, height + 1, width + 1).
    """

def window_contrasts(windows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], threads: int = 1) -> tuple[NDArray[numpy.float32], NDArray[numpy.bool_]]:
    """
    Return for each window the factor that normalises its features, and whether OpenCV's detector rejects it as flat.
    """

def haar_values(windows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], rectangles: Annotated[NDArray[numpy.int32], dict(shape=(None, 3, 4), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None, 3), order='C', device='cpu', writable=False)], tilted: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], normalise: bool, isa: str, threads: int = 1) -> NDArray[numpy.float32]:
    """Return the values of Haar features, shape (n_features, n_windows)."""

class HaarSearch:
    """
    Windows that are prepared once and searched for the best stump in every round.
    """

    def __init__(self, windows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], positive: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], rectangles: Annotated[NDArray[numpy.int32], dict(shape=(None, 3, 4), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None, 3), order='C', device='cpu', writable=False)], tilted: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], normalise: bool, bytes: int, isa: str, threads: int) -> None: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def n_kept(self) -> int:
        """Number of features whose codes are kept in memory."""

    def find_best(self, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], criterion: str) -> tuple[int, float, float, float, float, float]:
        """
        Return feature, threshold, prediction below the threshold, prediction from the threshold on, criterion value and gain of the stump that minimises 'error', 'exponential' or 'squared' loss.
        """

    def values(self, feature: int) -> NDArray[numpy.float32]:
        """Return the values of a feature for all windows."""

def write_model(ensemble: Ensemble, metadata: bytes) -> bytes:
    """Return the bytes of a model file. The same model gives the same bytes."""

def read_model(file: bytes) -> tuple:
    """
    Return the ensemble and the metadata of a model file. Raise ModelFileError if it is invalid.
    """

def write_parts(parts: Sequence[bytes], metadata: bytes) -> bytes:
    """
    Return the bytes of a file with several models; each part holds the bytes of a model file.
    """

def read_parts(file: bytes) -> tuple:
    """
    Return the parts and the metadata of a file with several models. Raise ModelFileError if it is invalid.
    """

def holds_parts(file: bytes) -> bool:
    """
    Return whether read_parts reads the file. Otherwise it is for read_model or not a model file.
    """

def checksum(bytes: bytes) -> int:
    """Return the CRC-64/XZ checksum, as used in model files."""

class Detector:
    """A cascade that is ready to detect objects in images."""

    def __init__(self, width: int, height: int, rectangles: Annotated[NDArray[numpy.int32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], tilted: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], feature: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threshold: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], left: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], leaves: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], tree_size: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], stage_size: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], stage_threshold: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def detect(self, image: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), device='cpu', writable=False)], min_neighbors: int, tolerance: float, options: dict, cut: bool = True) -> tuple:
        """
        Return the detections: boxes (n, 4), clipped at the border of the image if `cut`; the number of windows grouped into each box; the number of stages that the best of these windows passed; and the sum of its last stage.
        """

    def scan(self, image: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), device='cpu', writable=False)], options: dict) -> tuple:
        """
        Return the sizes of the layers of the image pyramid, (layer, x, y) of the windows that pass, and the number of windows that were evaluated.
        """

    def depths(self, images: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], threads: int = 1, isa: str = 'auto') -> tuple:
        """
        Return how many stages each image passes (-1 for a flat image) and the sum of its last stage.
        """

def group_windows(boxes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], depth: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sum: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], min_neighbors: int, tolerance: float) -> tuple:
    """
    Group windows around the same object; return the same arrays as Detector.detect.
    """

def resize_image(image: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), device='cpu', writable=False)], width: int, height: int) -> NDArray[numpy.uint8]:
    """Resize a grey image as OpenCV does with INTER_LINEAR_EXACT."""
