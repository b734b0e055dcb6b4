"""
Exponential weights: the regret stays below its bound
=====================================================

    python examples/plot_exponential_weights.py

The script writes exponential-weights.png. Ten experts have a loss of 0 or 1 in each of 1000 rounds;
one of them has a slightly lower mean loss than the others. Left: the weights for the learning rate
β that minimises the bound. Middle: the regret with respect to the best expert so far for three
learning rates, and the bound of the middle one. Right: the bound and the final regret for many
learning rates. A learning rate that is too small adapts too slowly. On these losses a larger rate
would have been better, because one expert is best throughout; but the bound holds for all sequences
and is smallest at √(8 ln N / n).
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from bosquet.experts import ExponentialWeights, play

ROUNDS, EXPERTS = 1000, 10
rng = np.random.default_rng(3)
chances = np.r_[0.4, np.full(EXPERTS - 1, 0.5)]
losses = (rng.random((ROUNDS, EXPERTS)) < chances).astype(float)
steps = np.arange(1, ROUNDS + 1)
best_rate = np.sqrt(8 * np.log(EXPERTS) / ROUNDS)


def bound(rate, n):
    return np.log(EXPERTS) / rate + rate * n / 8


def played(rate):
    """Return the mixture with this rate, and its regret with respect to the best expert after every round."""
    game = play(losses, ExponentialWeights(learning_rate=rate), loss_range=1)
    lost = np.sum(game.weight_history_ * losses, axis=1).cumsum()
    return game, lost - losses.cumsum(axis=0).min(axis=1)


figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4), layout="constrained")
game, _ = played(best_rate)
left.plot(steps, game.weight_history_[:, 1:], color="#8a8a8a", lw=0.8)
left.plot(steps, game.weight_history_[:, 0], color="#d9822b", label="the best expert")
left.set(xlabel="round t", ylabel="weight $p_t(j)$", title=f"β = {best_rate:.3f}")
left.legend(frameon=False)
for rate, colour in (
    (best_rate / 10, "#2f7d5b"),
    (best_rate, "#3b6ea5"),
    (10 * best_rate, "#b8433f"),
):
    _, regret = played(rate)
    middle.plot(steps, regret, color=colour, lw=1.2, label=f"regret, β = {rate:.3f}")
    print(f"β {rate:.3f}: regret {regret[-1]:.1f}, bound {bound(rate, ROUNDS):.1f}")
middle.plot(
    steps, bound(best_rate, steps), "--", color="#3b6ea5", label=f"bound, β = {best_rate:.3f}"
)
middle.set(xlabel="round n", ylabel="regret w.r.t. the best expert so far")
middle.legend(frameon=False, fontsize="small")
rates = np.geomspace(0.005, 3, 40)
right.loglog(rates, bound(rates, ROUNDS), "--", color="#333333", label="ln N / β + β n / 8")
right.loglog(rates, [played(rate)[1][-1] for rate in rates], color="#3b6ea5", label="regret")
right.axvline(best_rate, color="#d9822b", lw=1, label="√(8 ln N / n)")
right.set(xlabel="β", ylabel=f"after {ROUNDS} rounds")
right.legend(frameon=False, fontsize="small")
for ax in (left, middle, right):
    ax.spines[["top", "right"]].set_visible(False)
figure.savefig("exponential-weights.png", dpi=100)
print("wrote exponential-weights.png")
