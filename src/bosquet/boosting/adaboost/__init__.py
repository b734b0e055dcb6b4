"""Boosting by reweighting: AdaBoost, AnyBoost, BrownBoost, LPBoost and AdaBoost.R2, with certificates."""
