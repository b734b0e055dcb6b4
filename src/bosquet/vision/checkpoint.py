"""What a training has reached after each stage, in a file that survives a kill."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np

from bosquet._files import written_whole
from bosquet.vision.cascade import Cascade, CascadeFileError
from bosquet.vision.opencv_xml import cascade_from_xml, cascade_to_xml

FORMAT = "bosquet cascade training 1"


@dataclass(frozen=True)
class TrainedStage:
    """A stage of a training: what it was trained on and what it achieves there.

    Attributes
    ----------
    stage : int
        From 1 on.
    n_stumps : int
    hit_rate, false_alarm : float
        Of the stage, on its own training images.
    reached : bool
        Whether these are as asked.
    n_positives, n_negatives : int
    acceptance : float
        The share of background windows that all stages before let pass.
    seconds : float
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
    """What must be the same for a training to go on where another stopped."""
    digest = hashlib.sha256()
    for image in images:
        digest.update(repr(image.shape).encode())
        digest.update(np.ascontiguousarray(image).data)
    return {
        "images": digest.hexdigest(),
        **{name: repr(value) for name, value in parameters.items()},
    }


def save_checkpoint(
    path: Path, cascade: Cascade, stages: Sequence[TrainedStage], known: Mapping[str, str]
) -> None:
    """Writes the file beside its place and moves it there: it is whole or not there at all."""
    content = {
        "format": FORMAT,
        "training": dict(known),
        "stages": [asdict(stage) for stage in stages],
        "cascade": cascade_to_xml(cascade),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as draft, open(draft, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.flush()
        os.fsync(file.fileno())


def load_checkpoint(
    path: Path, known: Mapping[str, str]
) -> tuple[Cascade, list[TrainedStage]] | None:
    """What was reached before, or None where nothing was.

    Raises
    ------
    ValueError
        Where the file is of another training; it names what differs.
    """
    if not path.exists():
        return None
    try:
        before, stages, cascade = _parts(json.loads(path.read_text(encoding="utf-8")))
    except CascadeFileError as error:
        raise CascadeFileError(f"{path.name}: {error}") from None
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        line = " ".join(f"{type(error).__name__}: {error}".split())[:160]
        raise CascadeFileError(f"{path.name}: damaged ({line})") from None
    differing = [name for name in known if before.get(name) != known[name]]
    if differing:
        raise ValueError(
            f"{path} is the checkpoint of a training with other {' and '.join(differing)}: delete it, or "
            "give another name"
        )
    return cascade, stages


def _parts(content: Any) -> tuple[dict[str, str], list[TrainedStage], Cascade]:
    """What a checkpoint holds, each of the type that it is written with."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise CascadeFileError("no checkpoint of a cascade's training")
    before, stages, text = content["training"], content["stages"], content["cascade"]
    if not (isinstance(before, dict) and isinstance(stages, list) and isinstance(text, str)):
        raise TypeError("its parts are not of their types")
    wanted = get_type_hints(TrainedStage)
    for stage in stages:
        found = {name: type(value) for name, value in dict(stage).items()}
        if found != wanted:
            raise TypeError(f"a stage holds {found}, not {wanted}")
    cascade = cascade_from_xml(text.encode())
    if len(stages) != len(cascade.stages):
        raise CascadeFileError("its stages are not those of its cascade")
    return before, [TrainedStage(**stage) for stage in stages], cascade
