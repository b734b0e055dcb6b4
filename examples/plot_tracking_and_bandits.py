"""
Tracking the best expert, and bandits
=====================================

    python examples/plot_tracking_and_bandits.py

The script writes tracking-and-bandits.png. Left: the best of four experts changes twice.
Exponential weights prefer the old expert until the new one has made up its earlier losses; fixed
share redistributes a small part of the weight in every round and adapts quickly. Middle: a bandit
problem. EXP3 observes only the loss of the expert that it has drawn; its regret also grows more
slowly than the number of rounds, but is much larger than with full information. Right: the simple
regret evaluates only the final recommendation: the mean over 60 games of the loss of the expert
that was played most, minus the loss of the best expert.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from bosquet.experts import EXP3, FixedShare, play, simple_regret

rng = np.random.default_rng(0)
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4), layout="constrained")

rounds = np.arange(1, 901)
best = (rounds - 1) // 300
changing = (rng.random((900, 4)) < np.where(np.arange(4) == best[:, None], 0.2, 0.5)).astype(float)
for rule, name, colour in (
    ("ewa", "exponential weights", "#3b6ea5"),
    (FixedShare(share=2 / 899), "fixed share", "#d9822b"),
):
    game = play(changing, rule, loss_range=1)
    left.plot(rounds, game.weight_history_[rounds - 1, best], color=colour, label=name)
    print(f"{name}: loss {game.loss_:.0f}, best sequence {changing[rounds - 1, best].sum():.0f}")
left.set(xlabel="round", ylabel="weight of the currently best expert", ylim=(0, 1.2))

means = np.array([0.4, 0.5, 0.5, 0.5, 0.6])
games, length = 60, 2000
marks = np.unique(np.geomspace(20, length, 12).astype(int))
regrets, simple = {"full information": [], "EXP3": []}, []
for seed in range(games):
    losses = (rng.random((length, means.size)) < means).astype(float)
    seen = play(losses, "ewa", loss_range=1)
    drawn = play(losses, EXP3(), loss_range=1, random_state=seed)
    for name, game in (("full information", seen), ("EXP3", drawn)):
        # The expected loss of the weights minus the loss of the best expert.
        regrets[name].append(np.cumsum(game.weight_history_ @ means - means.min()))
    most = drawn.weight_history_.cumsum(axis=0)[marks - 1].argmax(axis=1)
    simple.append([simple_regret(np.eye(means.size)[k], means) for k in most])
for name, colour in (("full information", "#3b6ea5"), ("EXP3", "#d9822b")):
    mean = np.mean(regrets[name], axis=0)
    middle.plot(np.arange(1, length + 1), mean, color=colour, label=name)
    print(f"{name}: mean regret {mean[-1]:.0f} after {length} rounds")
middle.set(xlabel="round", ylabel=f"regret, mean of {games} games")
right.plot(marks, np.mean(simple, axis=0), marker="o", ms=4, color="#d9822b")
right.set(
    xlabel="rounds of EXP3", ylabel="simple regret of the most played", xscale="log", ylim=(0, None)
)
print(f"simple regret: {np.mean(simple, axis=0)[[0, -1]].round(4)} after {marks[[0, -1]]} rounds")
left.legend(frameon=False, fontsize="small", loc="upper center", ncols=2)
middle.legend(frameon=False, fontsize="small")
for ax in (left, middle, right):
    ax.spines[["top", "right"]].set_visible(False)
figure.savefig("tracking-and-bandits.png", dpi=100)
print("wrote tracking-and-bandits.png")
