"""
Heart disease: logistic regression and odds ratios
==================================================

The rows are South African men, of whom a third have coronary heart disease: blood pressure,
tobacco, cholesterol, family history and more. There are only 462 rows, and the question is as much
*which* factors matter as *who* is ill. (The table and the coefficients are published in *The
Elements of Statistical Learning*; the conclusion compares them with those of this page.) The
classical method is logistic regression with its tests. Are trees and forests more accurate?
"""

import matplotlib.pyplot as plt
import numpy as np
from case_data import table
from case_pictures import tidy, tuning_and_scores

from bosquet import BinomialRegression, Study, plot

hearts = table("sa_heart")

# %%
# 1 and 2. Extract and explore
# ----------------------------
# The share of ill men by age and by family history: both matter, and their effects seem to be
# additive.
ill = hearts["chd"].astype(int)
figure, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
decade = (hearts["age"].astype(int) // 10) * 10
for level, colour in (("Absent", "#3b6ea5"), ("Present", "#b8433f")):
    share = ill[hearts["famhist"] == level].groupby(decade).mean()
    ax.plot(share.index + 5, share, "o-", color=colour, label=f"family history {level.lower()}")
tidy(ax).set(xlabel="age", ylabel="share with heart disease", ylim=(0, 1))
ax.legend(frameon=False)
plt.show()

# %%
# Logistic regression
# -------------------
# The log odds :math:`\ln(p / (1-p))` are linear in the columns, so the exponential of a coefficient
# multiplies the odds. The first model has all columns.
FORMULA = "chd ~ sbp + tobacco + ldl + famhist + obesity + alcohol + age"
full = BinomialRegression(FORMULA).fit(hearts)
print(full.summary())

# %%
# Backward elimination removes, one at a time, the column whose removal improves the AIC most, until
# no removal improves it. A likelihood-ratio test compares each model with the previous one.
chosen = full.backward("aic")
print(chosen.selection_[["removed", "p_value", "deviance", "aic"]].round(3).to_string())
print(chosen.summary())

# %%
# Left: the odds ratios (per ten years and per ten units of pressure), with 95 % confidence
# intervals. Right: the probability by age for both family histories, with its confidence band,
# which is computed on the scale of the log odds so that it stays between 0 and 1.
figure, axes = plt.subplots(1, 2, figsize=(11.6, 3.9), layout="constrained")
plot.odds_ratios(full, units={"sbp": 10, "age": 10, "alcohol": 10}, ax=axes[0])
plot.probability_curve(chosen, hearts, "age", by="famhist", y=ill, ax=axes[1])
plt.show()

# %%
# 3 to 6. Split, tune, compare, repeat
# ------------------------------------
METHODS = ["logistic", "cart", "random-forest", "gradient-boosting"]
study = Study(methods=METHODS, budget=None, repeats=4, random_state=0, verbose=0)
study.fit(hearts.astype({"famhist": "category"}), "chd")
print(study)
tuning_and_scores(study)
plt.show()

# %%
# 7. Choose, and keep it
# ----------------------
print(study.record_["chosen"]["why"])
two = hearts.iloc[[0, 2]]
band = chosen.confidence_band(two)
print(
    f"probabilities of two men: {np.asarray(chosen.predict_proba(two))[:, 1].round(2)}, with confidence bands"
)
print(band)

# %%
# What was learned
# ----------------
loss = study.table_["log_loss"]
ratios = chosen.odds_ratios()
print(f"- Backward elimination keeps {', '.join(t for t in chosen.terms_ if t != 'Intercept')}.")
if not hearts.attrs["real"]:
    print(
        "  (These rows are simulated: the disease depends on age, tobacco, ldl and famhist. AIC keeps a"
        " column of noise with a probability of P(χ² > 2), about one in six.)"
    )
print(ratios[["odds_ratio", "low", "high"]].round(2).to_string())
if hearts.attrs["real"]:
    book = {"tobacco": 0.081, "ldl": 0.168, "famhist[T.Present]": 0.924, "age": 0.044}
    here = chosen.coefficients()["estimate"]
    print("- Coefficients (those of the book in parentheses):", end=" ")
    print(", ".join(f"{name} {here[name]:.3f} ({value})" for name, value in book.items()))
print(
    f"- Test log loss: logistic {loss['logistic']:.3f}, forest {loss['random-forest']:.3f},",
    end=" ",
)
print(
    f"boosted trees {loss['gradient-boosting']:.3f}, a pruned tree "
    f"{loss['cart']:.3f}, the constant {loss['constant']:.3f}."
)
better = [study.table_.title[m] for m in METHODS[1:] if loss[m] < loss["logistic"]]
print(
    "- Tree methods with a smaller loss than logistic regression: "
    f"{', '.join(better) if better else 'none'}."
)
