"""Each algorithm once more, in plain NumPy, as a lecture writes it.

These reference implementations are written to be read, and to be written again by a student. They are
slow on purpose: no threads, no tricks, loops where a loop is what the text says. The tests hold the
native core to them on small data: the same edges, the same splits, the same leaf values. Nothing else in
the package uses them.

- `losses`: what each loss is worth, its two derivatives and the constants that minimise it;
- `binning`: where a column is cut, and which bin a value falls in;
- `draws`: random numbers by counting, for sampling rows and features;
- `gradient_trees`: quantised gradients, histograms, the best split of a node, growing a tree;
- `gradient_boosting`: leaf values and the stagewise loop over trees;
- `stumps`: the best stump under weights, by brute force and in linear time;
- `stump_boosting`: the rounds of boosting on stumps, five ways to weigh the rows;
- `brownboost`: the differential equation of a round, and the clock;
- `lpboost`: the largest soft margin with every hypothesis on the table;
- `adaboost_r2`: rows drawn by their losses, weighted medians;
- `adaboost`: discrete, real and gentle AdaBoost, LogitBoost, MadaBoost, SAMME and AdaBoost.MH;
- `anyboost`: coordinate descent on any loss of the margin;
- `haar`: integral images, Haar features in OpenCV's order, AdaBoost over stumps on them;
- `cascade`: windows through the stages of a cascade, one by one;
- `certificate`: errors, edges, normalisers and margins of a vote, and the bounds they give;
- `cart`, `pruning`: trees by impurity, and how they are cut back;
- `forest`: a bag for each tree, a few features at each node, votes;
- `bagging`: bags, votes, out-of-bag errors, the jackknife after the bootstrap;
- `risk`: bias, variance and noise, the vote's gain, Rademacher complexity, the edge of stumps;
- `experts`: the rules that weigh experts;
- `regret_bounds`: what their regret cannot exceed;
- `portfolios`: sequential investment;
- `calibration`: pooling adjacent violators, Platt's and the beta map, the Brier score's parts;
- `conformal`: ranks of scores, intervals by split, quantiles and jackknife+, sets of classes;
- `glm`: binomial regression by Newton's method, its tests and bands, backward elimination;
- `discriminant`: densities of classes by kernels and by neighbours;
- `streams`: whether the mean of a stream has changed.
"""
