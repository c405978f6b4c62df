"""Draw docs/steadycv.png, the picture of the README: the lattice, and what promises are worth.

The right half shows the results of experiments/disappointment.py.
"""

import json
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilityDisplay, StabilitySearchCV

ROOT = Path(__file__).parent.parent
PLAIN, STEADY, GREY = "#d55e00", "#0072b2", "#6a6a6a"

X, y = load_diabetes(return_X_y=True)
grid = {"max_depth": range(1, 11)}
folds = KFold(5, shuffle=True, random_state=24)
search = StabilitySearchCV(DecisionTreeRegressor(), grid, cv=folds).fit(X, y)

plt.rcParams |= {"font.size": 11}
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10.8, 3.9), layout="constrained", width_ratios=[1.25, 1]
)
StabilityDisplay.from_search(search, kind="lattice", ax=left)
left.set_title("It fits every training set once ...", fontsize=14, weight="bold", loc="left")
left.set_title("")  # its own
left.set_yticks([0.5, 4.5, 9.5], [1, 5, 10])
left.set_ylabel("depth of a decision tree")

figures = json.loads((ROOT / "experiments" / "results" / "disappointment.json").read_text())["figures"]
rows = [
    ("plain: promised over new data", "plain choice,\nits CV error", PLAIN),
    ("plain: nested error over new data", "plain choice,\nits nested error", GREY),
    ("steady: nested error over new data", "steady choice,\nits nested error", STEADY),
]
for place, (name, _, color) in enumerate(rows):
    ratio, spread = map(float, figures[name].split(" +- "))
    right.errorbar(ratio, place, xerr=spread, fmt="o", color=color, markersize=9, capsize=5, linewidth=2)
    label = f"{abs(ratio - 1):.0%} too {'good' if ratio < 1 else 'careful'}"
    right.annotate(label, (ratio, place - 0.2), color=color, weight="bold", ha="center")
right.axvline(1, color="black", linewidth=1, zorder=0)
right.set_title("... and says what to expect", fontsize=14, weight="bold", loc="left", pad=8)
right.set_yticks(range(len(rows)), [text for _, text, _ in rows])
right.set(xlim=(0.87, 1.13), ylim=(2.5, -0.6), xlabel="promised error / error on new data, 100 splits")
right.tick_params(axis="y", length=0)
for side in ("top", "left", "right"):
    right.spines[side].set_visible(False)

figure.savefig(ROOT / "docs" / "steadycv.png", dpi=110)
