"""The interface between fitted models and model files.

Each package with estimators has a module of states (`trees/_state.py`, ...) that converts its fitted models
to JSON values and back. `kinds.py` defines the interface and lists these modules; the other modules of this
package contain what they share. `bosquet.io` writes and reads the files and does not depend on any estimator.
"""
