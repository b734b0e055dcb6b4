"""
Heart disease: odds that a doctor can read
==========================================

South African men of whom a third have coronary heart disease: blood pressure, tobacco,
cholesterol, family history and more. 462 rows are few, and the question is as much *which* factors
matter as *who* is ill. (The table, and the coefficients that it leads to, are in *The Elements of
Statistical Learning*; at the end they stand beside those of this page.) The classical answer is a
logistic regression with its tests; do trees and forests know better?
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
# Shares of the ill by age and by family history: both matter, and they seem to add up.
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
# The model of the odds
# ---------------------
# :math:`\ln(p / (1-p))` is linear in the columns, so that a coefficient's exponential multiplies
# the odds. All columns first.
FORMULA = "chd ~ sbp + tobacco + ldl + famhist + obesity + alcohol + age"
full = BinomialRegression(FORMULA).fit(hearts)
print(full.summary())

# %%
# Backward elimination leaves out, one at a time, the column whose loss improves AIC most, until
# none does. What is left is tested against what was there by the likelihood ratio.
chosen = full.backward("aic")
print(chosen.selection_[["removed", "p_value", "deviance", "aic"]].round(3).to_string())
print(chosen.summary())

# %%
# On the left what multiplies the odds (for ten years, ten units of pressure), with 95 % intervals;
# on the right the chance by age for both family histories, with its confidence band, taken through
# the link so that it stays between 0 and 1.
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
print(f"two men: {np.asarray(chosen.predict_proba(two))[:, 1].round(2)}, with bands")
print(band)

# %%
# What was learned
# ----------------
loss = study.table_["log_loss"]
ratios = chosen.odds_ratios()
print(f"- Backward elimination keeps {', '.join(t for t in chosen.terms_ if t != 'Intercept')}.")
if not hearts.attrs["real"]:
    print(
        "  (These rows are simulated: age, tobacco, ldl and famhist are what the disease follows. AIC keeps"
        " a column of noise in one case of six, as P(χ² > 2) is.)"
    )
print(ratios[["odds_ratio", "low", "high"]].round(2).to_string())
if hearts.attrs["real"]:
    book = {"tobacco": 0.081, "ldl": 0.168, "famhist[T.Present]": 0.924, "age": 0.044}
    here = chosen.coefficients()["estimate"]
    print("- Coefficients, and the book's:", end=" ")
    print(", ".join(f"{name} {here[name]:.3f} ({value})" for name, value in book.items()))
print(
    f"- Log loss on new rows: logistic {loss['logistic']:.3f}, forest {loss['random-forest']:.3f},",
    end=" ",
)
print(
    f"boosted trees {loss['gradient-boosting']:.3f}, a pruned tree "
    f"{loss['cart']:.3f}, the constant {loss['constant']:.3f}."
)
better = [study.table_.title[m] for m in METHODS[1:] if loss[m] < loss["logistic"]]
print(
    "- Methods of trees with a smaller loss than the linear one: "
    f"{', '.join(better) if better else 'none'}."
)
