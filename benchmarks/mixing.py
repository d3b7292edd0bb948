"""Mixing approved and declined rows can reverse a comparison of groups: measured on COMPAS.

    python -m benchmarks.mixing compas.csv        prints the figures of docs/howto/compare.md

The table is ProPublica's, with its usual filter (6,172 people); `good` is 1 where there was no new offence within two
years. It is not part of the repository, because no licence is stated for it.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

from flipset import Explainer, Space

COUNTS = ["juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count"]
CATEGORIES = ["sex", "race", "c_charge_degree"]
GROUPS = ["African-American", "Caucasian"]
THRESHOLD = 0.4


def main(path: str) -> None:
    """Fit a monotone model to three quarters of the table, and compare two groups of the others in both ways."""
    from xgboost import XGBClassifier

    table = pd.read_csv(path)
    rows = table[["sex", "age", "race", *COUNTS, "c_charge_degree"]].astype(dict.fromkeys(CATEGORIES, "category"))
    test = np.arange(len(rows)) % 4 == 0
    classifier = XGBClassifier(
        n_estimators=100,
        max_depth=3,
        learning_rate=0.1,
        monotone_constraints=dict.fromkeys(COUNTS, -1),
        enable_categorical=True,
        n_jobs=1,
        random_state=0,
    )
    model = classifier.fit(rows[~test], table["good"][~test])
    space = Space.from_frame(rows[~test], decreasing=COUNTS, quantiles=(0.05, 0.95))
    t = Explainer(model, space, threshold=THRESHOLD).explain_table(rows[test], reasons=False)
    race = rows["race"][test].astype(str)
    print("mixed:", t.to_frame()["cost"].groupby(race).mean()[GROUPS].round(3).to_dict())
    groups = t.summary_by(race, reference=GROUPS[1])
    for group in GROUPS:
        print(f"declined, {group}:", groups.figures(group)["mean_cost"])


if __name__ == "__main__":
    main(sys.argv[1])
