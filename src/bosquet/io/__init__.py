"""Models to bytes and back; the only package that reads model files (docs/format.md)."""

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
