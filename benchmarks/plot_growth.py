"""Draw time against the size of the grid, from the figures that benchmarks/paths.py stored."""

import json
from pathlib import Path

import matplotlib.pyplot as plt

HERE = Path(__file__).parent
LABELS = {True: "one fit serves all (path)", False: "separate fits"}

rows = json.loads((HERE / "results" / "paths.json").read_text())["growth"]
figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
for ax, model, title in zip(
    axes, ("tree", "ridge"), ("decision tree, min_samples_split", "ridge, alpha"), strict=True
):
    for paths, style in ((False, "C3s-"), (True, "C0o-")):
        line = [(r["size"], r["seconds"]) for r in rows if r["model"] == model and r["paths"] == paths]
        ax.plot(*zip(*line, strict=True), style, label=LABELS[paths])
    ax.set(title=title, xlabel="candidates in the grid", xscale="log", yscale="log")
    ax.grid(alpha=0.3)
axes[0].set_ylabel("seconds, nested search")
axes[0].legend()
figure.savefig(HERE.parent / "docs" / "growth.png", dpi=120)
