"""Writing and reading of model files, whose format is described in docs/format.md."""

from bosquet._core import ModelFileError
from bosquet.io.container import load_bytes, save_bytes
from bosquet.io.models import load, model_bytes, model_from_bytes, save_model

__all__ = [
    "ModelFileError",
    "load",
    "load_bytes",
    "model_bytes",
    "model_from_bytes",
    "save_bytes",
    "save_model",
]
