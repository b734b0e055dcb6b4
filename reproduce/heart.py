"""South African heart disease: the logistic regressions of The Elements of Statistical Learning, 4.4.2."""

from bosquet import BinomialRegression
from reproduce.tables import load

# Table 4.2: coefficient, standard error, Z score.
FULL = {
    "Intercept": (-4.130, 0.964, -4.285),
    "sbp": (0.006, 0.006, 1.023),
    "tobacco": (0.080, 0.026, 3.034),
    "ldl": (0.185, 0.057, 3.219),
    "famhist": (0.939, 0.225, 4.178),
    "obesity": (-0.035, 0.029, -1.187),
    "alcohol": (0.001, 0.004, 0.136),
    "age": (0.043, 0.010, 4.184),
}
# Table 4.3, after backward selection: coefficients.
CHOSEN = {"tobacco": 0.081, "ldl": 0.168, "famhist": 0.924, "age": 0.044}


def logistic(folder):
    """To the three decimals of the book; its Z scores are from about one iteration earlier."""
    formula = "chd ~ " + " + ".join(name for name in FULL if name != "Intercept")
    model = BinomialRegression(formula).fit(load(folder, "sa_heart"))
    found = _by_term(model)
    for name, wanted in FULL.items():
        row = found.loc[name]
        for what, theirs, within in zip(
            ("estimate", "std_error", "z"), wanted, (5.1e-4, 5.1e-4, 0.004), strict=True
        ):
            yield f"ESL heart: {what} of {name}", theirs, float(row[what]), within
    chosen = model.backward("lr", level=0.05)
    yield "ESL heart: columns kept by backward selection", 4, len(chosen.terms_) - 1, 0
    found = _by_term(chosen)
    for name, theirs in CHOSEN.items():
        yield (
            f"ESL heart: chosen, estimate of {name}",
            theirs,
            float(found.loc[name, "estimate"]),
            5.1e-4,
        )


def _by_term(model):
    """The coefficient table by term: a factor of two levels has one coefficient."""
    return model.coefficients().set_axis(model.terms_)
