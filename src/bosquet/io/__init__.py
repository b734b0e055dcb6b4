"""Writing and reading of model files, without pickle."""

from bosquet._core import ModelFileError
from bosquet.io.container import pack_trees, unpack_trees
from bosquet.io.models import load, model_bytes, model_from_bytes, save_model

__all__ = [
    "ModelFileError",
    "load",
    "model_bytes",
    "model_from_bytes",
    "pack_trees",
    "save_model",
    "unpack_trees",
]
