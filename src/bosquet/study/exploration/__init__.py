"""Looking at a table before anything is fitted: what its columns are like, and what is wrong with them."""

from bosquet.study.exploration.exploring import explore

__all__ = ["explore"]
