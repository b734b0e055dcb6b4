"""Ensembles that learn fast and show their work."""
