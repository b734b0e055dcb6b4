"""Figures of papers and books, recomputed and compared."""
