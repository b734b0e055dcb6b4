"""Checkpoint file of a cascade training, written after each stage."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np

from bosquet._files import atomic_write
from bosquet.vision.cascade import Cascade, CascadeFileError
from bosquet.vision.opencv_xml import cascade_from_xml, cascade_to_xml

FORMAT = "bosquet cascade training 1"


@dataclass(frozen=True)
class TrainedStage:
    """Size and training results of a stage.

    Attributes
    ----------
    stage : int
        Number of the stage, from 1.
    n_stumps : int
    hit_rate, false_alarm : float
        Rates of the stage on its own training images.
    reached : bool
        Whether the rates meet `min_hit_rate` and `max_false_alarm`.
    n_positives, n_negatives : int
        Number of training images.
    acceptance : float
        Fraction of the background windows that pass all earlier stages.
    seconds : float
        Training time.
    """

    stage: int
    n_stumps: int
    hit_rate: float
    false_alarm: float
    reached: bool
    n_positives: int
    n_negatives: int
    acceptance: float
    seconds: float


def fingerprint(parameters: Mapping[str, Any], images: Sequence[np.ndarray]) -> dict[str, str]:
    """Return the parameters and a hash of the images, which must match those of a checkpoint to resume it."""
    digest = hashlib.sha256()
    for image in images:
        digest.update(repr(image.shape).encode())
        digest.update(np.ascontiguousarray(image).data)
    return {
        "images": digest.hexdigest(),
        **{name: repr(value) for name, value in parameters.items()},
    }


def save_checkpoint(
    path: Path, cascade: Cascade, stages: Sequence[TrainedStage], current: Mapping[str, str]
) -> None:
    """Write the checkpoint atomically: to a temporary file, which then replaces `path`."""
    content = {
        "format": FORMAT,
        "training": dict(current),
        "stages": [asdict(stage) for stage in stages],
        "cascade": cascade_to_xml(cascade),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as draft, open(draft, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.flush()
        os.fsync(file.fileno())


def load_checkpoint(
    path: Path, current: Mapping[str, str]
) -> tuple[Cascade, list[TrainedStage]] | None:
    """Return the cascade and stages of a checkpoint, or None if the file does not exist.

    Raises
    ------
    ValueError
        If the checkpoint is of a training with other parameters or images; the message names them.
    """
    if not path.exists():
        return None
    try:
        saved, stages, cascade = _parse(json.loads(path.read_text(encoding="utf-8")))
    except CascadeFileError as error:
        raise CascadeFileError(f"{path.name}: {error}") from None
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        line = " ".join(f"{type(error).__name__}: {error}".split())[:160]
        raise CascadeFileError(f"{path.name}: the checkpoint is damaged ({line})") from None
    differing = [name for name in current if saved.get(name) != current[name]]
    if differing:
        raise ValueError(
            f"{path} is the checkpoint of a training with different {' and '.join(differing)}; delete it, or"
            " pass another path as checkpoint"
        )
    return cascade, stages


def _parse(content: Any) -> tuple[dict[str, str], list[TrainedStage], Cascade]:
    """Check the types of a checkpoint's content, and convert it to the fingerprint, stages and cascade."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise CascadeFileError("not a checkpoint of a cascade training")
    saved, stages, text = content["training"], content["stages"], content["cascade"]
    if not (isinstance(saved, dict) and isinstance(stages, list) and isinstance(text, str)):
        raise TypeError("training, stages and cascade must be an object, a list and a string")
    expected = get_type_hints(TrainedStage)
    for stage in stages:
        types = {name: type(value) for name, value in dict(stage).items()}
        if types != expected:
            raise TypeError(f"a stage has fields {types}, expected {expected}")
    cascade = cascade_from_xml(text.encode())
    if len(stages) != len(cascade.stages):
        raise CascadeFileError(
            f"the checkpoint lists {len(stages)} stages, but its cascade has {len(cascade.stages)}"
        )
    return saved, [TrainedStage(**stage) for stage in stages], cascade
