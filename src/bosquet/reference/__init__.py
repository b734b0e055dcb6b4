"""Reference implementations in plain NumPy, written to be read.

Students can read them beside the course and write them again. They are slow on purpose: no
threads, no optimisations, and a loop where the text has a sum. The tests compare the C++ core with them on
small data: both must give the same bin edges, splits and leaf values. No other package imports this one.

- `losses`: values of the losses, their two derivatives and the constants that minimise them;
- `binning`: bin edges of a column, and the bin of a value;
- `target_statistics`: mean targets of the levels of categorical columns, over the rows before each row;
- `draws`: counter-based random numbers, for sampling rows and features;
- `gradient_trees`: quantised gradients, histograms, the best split of a node, growing a tree;
- `gradient_boosting`: leaf values and the stagewise loop over trees;
- `stumps`: the best stump for weighted rows, by brute force and in linear time;
- `stump_boosting`: boosting of stumps, in five variants;
- `brownboost`: BrownBoost and the differential equation of one of its rounds;
- `lpboost`: the largest soft margin, as one linear program over all hypotheses;
- `adaboost_r2`: AdaBoost.R2 for regression, weighted medians;
- `adaboost`: discrete, real and gentle AdaBoost, LogitBoost, MadaBoost, SAMME and AdaBoost.MH;
- `anyboost`: coordinate descent on any loss of the margin;
- `haar`: integral images, Haar features in OpenCV's order, AdaBoost over stumps on them;
- `cascade`: detection with a cascade of stages, window by window;
- `certificate`: errors, edges, normalisers and margins of a vote, and the bounds that follow from them;
- `cart`: classification and regression trees;
- `pruning`: cost-complexity pruning of these trees;
- `forest`: random forests and extremely randomised trees;
- `bagging`: bags, votes, out-of-bag errors, the jackknife after bootstrap;
- `risk`: bias, variance and noise, the gain of a vote, Rademacher complexity, the edge of stumps;
- `experts`: aggregation rules for prediction with expert advice;
- `regret_bounds`: upper bounds on the regret of these rules;
- `portfolios`: sequential investment;
- `calibration`: pool adjacent violators, Platt scaling, beta calibration, decomposition of the Brier score;
- `comparison`: confidence intervals for the difference between two models;
- `conformal`: split conformal, conformalised quantile regression and jackknife+, for intervals and sets;
- `glm`: binomial regression by Newton's method, tests, confidence bands, backward elimination;
- `discriminant`: class densities by kernels and by nearest neighbours;
- `resampling`: cross-validation, the .632 bootstrap, effective number of parameters;
- `shapley`: Shapley values and interactions of a tree, from their definition;
- `streams`: detectors of a change in the mean of a stream.
"""
