# Written by tools/make_stubs.py with nanobind 3.1.0: do not edit.
# ruff: noqa
# fmt: off
"""
Native core of bosquet: binning, losses, growing, boosting, predicting.
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
    """The instruction set that the kernels run on unless told otherwise."""

class Bins:
    """What binning learned of each column."""

    @property
    def n_features(self) -> int: ...

    def edges(self, feature: int) -> NDArray[numpy.float64]:
        """Upper edges of the bins of a quantitative column."""

    def n_bins(self, feature: int) -> int:
        """Number of bins, the one for missing values included."""

def learn_bins(data: object, categories: Sequence[int], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_bins: int, sample_rows: int, seed: int, threads: int) -> Bins:
    """Learns where to cut each column of a matrix or a list of columns."""

class BinnedMatrix:
    """A table in bins."""

    @property
    def n_rows(self) -> int: ...

    def bin(self, feature: int, row: int) -> int:
        """The bin of one value; 0 is missing."""

def bin_table(data: object, bins: Bins, isa: str, threads: int) -> BinnedMatrix:
    """Puts a table into bins."""

def all_losses() -> list:
    """
    What each loss states of itself, one dict per loss: its name, the targets it accepts (any, non_negative, positive, two_classes), the scale of its raw predictions (target, unitless), the open interval of its parameter or None, and what boosting may assume.
    """

class Loss:
    """A loss with its derivatives, in the core."""

    def __init__(self, name: str, outputs: int, targets: int, parameters: Sequence[float]) -> None: ...

    @property
    def outputs(self) -> int: ...

    @property
    def curved(self) -> bool: ...

    def start_round(self, target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], raw: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def value(self, target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], raw: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """Sum of weight times loss."""

    def gradient_hessian(self, target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], raw: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], isa: str = 'auto') -> tuple: ...

    def responses(self, raw: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], isa: str = 'auto') -> NDArray[numpy.float64]:
        """
        What raw predictions (rows, outputs) say of the target: means, quantiles, or the probabilities of the classes.
        """

    def best_constants(self, target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]: ...

class Ensemble:
    """Trees and what they start from."""

    def __init__(self, n_features: int, n_outputs: int, base: Sequence[float], categories: Sequence[int], vector_leaves: bool = False) -> None: ...

    @property
    def n_trees(self) -> int: ...

    @property
    def n_outputs(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def n_rounds(self) -> int:
        """How often every output was added to: with vector leaves once a tree."""

    @property
    def vector_leaves(self) -> bool:
        """Whether every tree adds to all outputs."""

    @property
    def n_compilations(self) -> int:
        """How often the form that predicts many rows fast was made."""

    @property
    def base(self) -> NDArray[numpy.float64]: ...

    @property
    def categories(self) -> NDArray[numpy.uint32]: ...

    def predict_raw(self, data: object, first: int, last: int, threads: int = 1, isa: str = 'auto') -> NDArray[numpy.float64]:
        """
        Sums of the trees [first, last), shape (rows, outputs); with first == 0 the base too.
        """

    def predict_rows(self, values: Annotated[NDArray, dict(order='C', device='cpu', writable=False)], loss: Loss | None = None) -> NDArray[numpy.float64]:
        """
        The raw prediction of one row (features,) or of some (rows, features), soonest; shape (rows, outputs). With a loss, its responses instead.
        """

    def predict_plain(self, data: object) -> NDArray[numpy.float64]:
        """The raw prediction in the simplest way, slowly."""

    def apply(self, data: object, threads: int = 1) -> NDArray[numpy.int32]:
        """The node number of each row's leaf, shape (rows, trees)."""

    def tree_arrays(self, tree: int) -> dict:
        """
        A tree as arrays with an entry a node; children of a leaf are -1. With vector leaves 'value' has the shape (nodes, outputs).
        """

    def importance(self, kind: str) -> NDArray[numpy.float64]:
        """
        By feature, the sum of its splits' gains ('gain') or their number ('split').
        """

    def holds_shares(self, classes: Sequence[int]) -> bool:
        """
        Whether every leaf holds shares of classes; `classes` is their number, by target.
        """

    def reach(self) -> NDArray[numpy.float64]:
        """By output, what no prediction exceeds in size."""

    def truncate(self, n_trees: int) -> None:
        """Keeps the first n_trees trees."""

    def copy(self) -> Ensemble: ...

    def __reduce__(self) -> tuple: ...

class Fit:
    """A boosting fit in progress: one call of round() a round."""

    def __init__(self, matrix: BinnedMatrix, bins: Bins, target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], loss: Loss, options: dict, isa: str, threads: int) -> None: ...

    def set_holdout(self, matrix: BinnedMatrix, target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def start(self, raw: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], holdout_raw: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None) -> None:
        """Raw predictions (outputs, rows) to go on from."""

    def start_from(self, constants: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """The same raw prediction for every row, one constant an output."""

    def round(self, ensemble: Ensemble, gradients: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None = None, minimisers: Callable | None = None) -> None:
        """
        One tree an output. `gradients` (outputs, rows, 2) replace the loss's own; `minimisers(leaf_of_row, leaves, output)` then gives the leaves' values unless steps are Newton's.
        """

    def train_loss(self) -> float: ...

    def holdout_loss(self) -> float: ...

    def raw(self, holdout: bool = False) -> NDArray[numpy.float64]: ...

    def timings(self) -> dict: ...

class CodedTable:
    """A table as codes in the order of its values."""

    @property
    def n_rows(self) -> int: ...

    def n_codes(self, feature: int) -> int:
        """Number of codes, the one for missing values included."""

def code_values(data: object, categories: Sequence[int], threads: int) -> CodedTable:
    """One code a distinct value of each column."""

def code_bins(data: object, bins: Bins, isa: str, threads: int) -> CodedTable:
    """One code a bin of each column."""

class CartTree:
    """A tree with all that is known of its nodes."""

    def details(self) -> dict:
        """Rows, weight, impurity, value, competitors and surrogates."""

    def add_to(self, ensemble: Ensemble) -> None: ...

class CartFit:
    """Grows trees by impurity on one table and target."""

    def __init__(self, table: CodedTable, target: object, outputs: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: dict, threads: int, class_counts: Sequence[int] = []) -> None: ...

    def grow(self, ensemble: Ensemble, keys: Sequence[int], draws: int, replace: bool, balanced: bool = False) -> None:
        """Adds one tree for each key, grown on a bag of `draws` rows."""

    def grow_one(self, key: int) -> CartTree:
        """One tree on all rows."""

def bag_counts(rows: int, draws: int, replace: bool, key: int) -> NDArray[numpy.uint32]:
    """
    How often each row is in the bag that a tree with this key was grown on.
    """

def add_tree(ensemble: Ensemble, feature: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threshold: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], left: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], missing_left: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], left_categories: list, value: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], gain: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cover: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
    """
    Adds a tree given as arrays with an entry a node, as tree_arrays gives them.
    """

def hardened(ensemble: Ensemble, class_counts: Sequence[int] = []) -> Ensemble:
    """
    The ensemble whose leaves vote for one output instead of holding shares.
    """

def importance_by_tree(ensemble: Ensemble, kind: str) -> NDArray[numpy.float64]:
    """
    For each tree and feature the sum of its splits' gains, or their number.
    """

def permuted_leaves(ensemble: Ensemble, tree: int, data: object, rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], key: int) -> tuple:
    """
    The features that a tree uses, and the leaves of some rows as they are and with each of those features permuted among them.
    """

class Stump:
    """One question about one feature, an answer on either side."""

    @property
    def feature(self) -> int:
        """Number of the feature; -1 for a constant rule."""

    @property
    def threshold(self) -> float:
        """Values up to it go left."""

    @property
    def left_categories(self) -> list[int]:
        """Codes of a nominal feature that go left."""

    @property
    def nominal(self) -> bool:
        """Whether categories decide, not the threshold."""

    @property
    def missing_left(self) -> bool:
        """Whether missing values go left."""

    @property
    def values(self) -> NDArray[numpy.float64]:
        """What is said on the left and on the right: (2, outputs)."""

    @property
    def merit(self) -> float:
        """The criterion's value in the units of the weights: less is better."""

    @property
    def gain(self) -> float:
        """How much less that is than the best constant's."""

    def on_rows(self, search: StumpSearch) -> NDArray[numpy.float64]:
        """
        What it says of the rows it was learned on: (rows,), or (outputs, rows).
        """

    def on_values(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
        """What it says of rows with these values of its feature."""

    def add_to(self, ensemble: Ensemble, scale: float, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None) -> None:
        """
        Appends it as a tree whose leaves hold its values, or those given, times scale.
        """

    def __getstate__(self) -> tuple[int, bool, bool, float, list[int], list[float], float, float, float, float]: ...

    def __setstate__(self, arg: tuple, /) -> None: ...

class StumpSearch:
    """A table prepared once and searched every round."""

    def __init__(self, columns: object, categories: Sequence[int], bins: Bins | None, isa: str, threads: int) -> None:
        """Without bins every threshold between two values is searched."""

    @property
    def n_rows(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    def best(self, target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], criterion: str) -> Stump:
        """
        The stump of least weighted 'error' or 'exponential' loss of targets -1 and 1, or 'squared' error of any.
        """

    def best_of_classes(self, target: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Stump:
        """One class a side, for the least weighted 0-1 error."""

    def best_of_signs(self, target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Stump:
        """A sign for each class on each side; arrays of shape (classes, rows)."""

class StumpBoost:
    """Boosting on stumps, two classes, round by round."""

    def __init__(self, search: StumpSearch, target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], variant: str, learning_rate: float) -> None: ...

    def round(self, ensemble: Ensemble) -> dict:
        """
        One round: error, alpha, z, training_error, taken, stump. A stump without error, or no better than chance, is returned and not taken.
        """

    def margins(self) -> NDArray[numpy.float64]:
        """y f(x) of each row, as the votes add up."""

    def weights(self) -> NDArray[numpy.float64]:
        """The next round's distribution of the rows."""

def best_of_blocks(blocks: object, target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], criterion: str, threads: int = 1, isa: str = 'auto') -> Stump:
    """
    The best stump of features given lazily: an iterable of (number of the first feature, floats of shape (features, rows)), none of which is kept.
    """

class ExpertMixture:
    """Experts, a rule that weighs them, a loss."""

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
        """Predict from a step's forecasts, and wait for its truth."""

    def open_forecasts(self) -> NDArray[numpy.float64]:
        """Forecasts of the open step; 0 for those asleep."""

    def open_awake(self) -> NDArray[numpy.uint8]:
        """Who is awake in the open step."""

    def open_weights(self) -> NDArray[numpy.float64]:
        """The weights of the open step, a row each."""

    def open_predictions(self) -> NDArray[numpy.float64]:
        """Its predictions, a row each."""

    def open_chosen(self) -> NDArray[numpy.int64]:
        """The experts that it follows, where they are drawn."""

    @property
    def truth(self) -> object:
        """Assigning it closes the open step: the rule learns from the truth."""

    @truth.setter
    def truth(self, arg: float, /) -> None: ...

    @property
    def truths(self) -> object:
        """The same for a step of several rows."""

    @truths.setter
    def truths(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def bandit_loss(self) -> object:
        """The same with the loss of the expert that was drawn."""

    @bandit_loss.setter
    def bandit_loss(self, arg: float, /) -> None: ...

    def close_judged(self, losses: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], uniform: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], excess: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Learn from losses that the caller has computed."""

    def run(self, forecasts: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], truths: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], awake: Annotated[NDArray[numpy.uint8], dict(order='C', device='cpu', writable=False)] | None, block: int, keep: bool) -> dict:
        """Open and close many steps, `block` rows each."""

    def predict(self, forecasts: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], awake: Annotated[NDArray[numpy.uint8], dict(order='C', device='cpu', writable=False)] | None = None) -> NDArray[numpy.float64]:
        """What the present weights say of each row."""

    def weights(self, awake: Annotated[NDArray[numpy.uint8], dict(order='C', device='cpu', writable=False)] | None = None) -> NDArray[numpy.float64]: ...

    def bounds(self) -> NDArray[numpy.float64]:
        """What the regret to each expert cannot exceed."""

    def bound_with_shifts(self, shifts: int) -> float: ...

    def bound_to_combination(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float: ...

    def copy(self) -> ExpertMixture:
        """
        A mixture that goes on from here by itself; a step that is open is open in both.
        """

    def state(self) -> dict:
        """Everything learned, by name."""

    def restore(self, fields: dict) -> None: ...

def shap_values(ensemble: Ensemble, data: object, background: object | None = None, interactions: bool = False, threads: int = 1, isa: str = 'auto') -> tuple:
    """
    Shapley values of the raw predictions, shape (rows, features, outputs), with interactions (rows, features, features, outputs), and the base (outputs,).
    """

def conditional_predictions(ensemble: Ensemble, data: object, features: Sequence[int], grids: Sequence[Sequence[float]], threads: int = 1) -> NDArray[numpy.float64]:
    """
    Raw predictions (rows, points of all grids, outputs) with one feature at a point of its grid, which ascends, and the others as they are.
    """

def mean_predictions(ensemble: Ensemble, data: object, features: Sequence[int], grids: Sequence[Sequence[float]], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> NDArray[numpy.float64]:
    """
    Their weighted mean over rows, (points of all grids, outputs); weights sum to 1.
    """

def expected_predictions(ensemble: Ensemble, features: Sequence[int], points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
    """
    Raw predictions (points, outputs) with some features at given values and the others averaged over by the covers of nodes.
    """

def integral_image(images: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], kind: str) -> NDArray[numpy.int64]:
    """
    Sums over pixels, 'plain', 'squared' or 'tilted', of a stack of grey images: a row and a column more than they have.
    """

def window_contrasts(windows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], threads: int = 1) -> tuple[NDArray[numpy.float32], NDArray[numpy.bool_]]:
    """
    What features of each window are multiplied by, and whether it is too flat for OpenCV's detector.
    """

def haar_values(windows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], rectangles: Annotated[NDArray[numpy.int32], dict(shape=(None, 3, 4), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None, 3), order='C', device='cpu', writable=False)], tilted: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], normalise: bool, isa: str, threads: int = 1) -> NDArray[numpy.float32]:
    """Values of shape (features, windows)."""

class HaarSearch:
    """Windows prepared once, and searched for the best stump every round."""

    def __init__(self, windows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], positive: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], rectangles: Annotated[NDArray[numpy.int32], dict(shape=(None, 3, 4), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None, 3), order='C', device='cpu', writable=False)], tilted: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], normalise: bool, bytes: int, isa: str, threads: int) -> None: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def n_kept(self) -> int:
        """Features whose codes are in memory."""

    def best(self, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], criterion: str) -> tuple[int, float, float, float, float, float]:
        """
        Feature, threshold, what is said below it and from it on, merit and gain, of the stump of least 'error', 'exponential' loss or 'squared' error.
        """

    def values(self, feature: int) -> NDArray[numpy.float32]:
        """The feature's value of each window."""

def write_model(ensemble: Ensemble, metadata: bytes) -> bytes:
    """The model as a file; the same model, the same bytes."""

def read_model(file: bytes) -> tuple:
    """
    The ensemble and the metadata of a model file; ModelFileError if it is not a sound one.
    """

def write_parts(parts: Sequence[bytes], metadata: bytes) -> bytes:
    """
    A model made of others as a file; each part is the bytes of a model file.
    """

def read_parts(file: bytes) -> tuple:
    """
    The parts and the metadata of a model file made of others; ModelFileError if it is not one.
    """

def holds_parts(file: bytes) -> bool:
    """
    Whether a file is for read_parts; otherwise it is for read_model, or no model file.
    """

def checksum(bytes: bytes) -> int:
    """CRC-64/XZ, the checksum of model files."""

class Detector:
    """A cascade, ready to look through images."""

    def __init__(self, width: int, height: int, rectangles: Annotated[NDArray[numpy.int32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], tilted: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], feature: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threshold: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], left: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], leaves: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], tree_size: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], stage_size: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], stage_threshold: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def detect(self, image: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), device='cpu', writable=False)], min_neighbors: int, tolerance: float, options: dict, cut: bool = True) -> tuple:
        """
        Boxes (n, 4), cut at the image's border, how many windows agree on each, the stages that the best of them passed, and the sum of its last stage.
        """

    def scan(self, image: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), device='cpu', writable=False)], options: dict) -> tuple:
        """
        Sizes of the image's layers, (layer, x, y) of the windows that pass, and how many windows were looked at.
        """

    def depths(self, images: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], threads: int = 1, isa: str = 'auto') -> tuple:
        """
        How many stages each image passes (-1: it is flat), and the sum of its last one.
        """

def group_windows(boxes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], depth: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sum: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], min_neighbors: int, tolerance: float) -> tuple:
    """Windows around the same object as one, as Detector.detect gives them."""

def resize_image(image: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), device='cpu', writable=False)], width: int, height: int) -> NDArray[numpy.uint8]:
    """A grey image at another size, as OpenCV's INTER_LINEAR_EXACT gives it."""
