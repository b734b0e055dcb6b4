"""
AdaBoost round by round, and the proof that comes with it
=========================================================

    python examples/plot_adaboost_rounds.py

writes adaboost-rounds.png: the vote of stumps after 1 to 200 rounds on two noisy moons, points as
large as their rows weigh; adaboost-error.png: error in training and test under the bound; and
adaboost-certificate.png. The certificate itself is printed.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from bosquet import AdaBoostClassifier, plot

X, y = make_moons(200, noise=0.25, random_state=1)
X_test, y_test = make_moons(10_000, noise=0.25, random_state=2)
model = AdaBoostClassifier(n_estimators=200).fit(X, y)
print(model.certificate_)

plot.decision_rounds(model, X, y)
plt.savefig("adaboost-rounds.png", dpi=100)

figure, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
plot.error_curve(model, X, y, X_test, y_test, ax=ax)
figure.savefig("adaboost-error.png", dpi=100)

plot.certificate(model)
plt.savefig("adaboost-certificate.png", dpi=100)
print("wrote adaboost-rounds.png, adaboost-error.png, adaboost-certificate.png")
