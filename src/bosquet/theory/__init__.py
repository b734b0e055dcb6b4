"""What the theory says about a model at hand."""

from bosquet.theory.certificate import certificate

__all__ = ["certificate"]
