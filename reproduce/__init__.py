"""Figures of papers and books, done again: theirs beside ours."""
