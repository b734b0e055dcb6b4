"""Exploration of a table before any fit: summaries of its columns, and findings about its problems."""

from bosquet.study.exploration.exploring import explore

__all__ = ["explore"]
