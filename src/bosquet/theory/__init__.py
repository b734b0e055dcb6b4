"""What the theory says about a model at hand."""

from bosquet.theory.certifying import certificate

__all__ = ["certificate"]
