"""Monotonicity shown from a model's own structure: its trees or its coefficients, without sampling.

- `shown`: what is shown, as data, and the form in which an adapter offers it.
- `show`: what callers use, `show_monotone` and `suggest_directions`.
- `trees`: the trees of every library in one form.
- `order`, `boxes`, `pairs`: whether every tree is in order; `suspects` makes rows of those that are not.
- `linear`: sums of weighted inputs.
- `inputs`: what a model's inputs have to do with the columns of a row.
- `xgboost_models`, `lightgbm_models`, `catboost_models`, `scikit_trees`, `scikit_linear`, `scikit_steps`: readers.
- `estimators`: which reader is for which model.
"""
