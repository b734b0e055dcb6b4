"""
AdaBoost round by round, with its certificate
=============================================

    python examples/plot_adaboost_rounds.py

The script writes three figures. adaboost-rounds.png shows the vote of the stumps after 1 to 200
rounds on two noisy moons; the area of a point is the weight of its row. adaboost-error.png shows
the training error, the test error and the bound. adaboost-certificate.png shows the certificate,
which is also printed.
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
