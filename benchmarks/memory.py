"""How much memory a table takes: `make memory` writes the figures of docs/reliability.md.

Each case runs in a process of its own: importing the libraries, opening the model and reading the table count too. The
figure is the most that the process had in memory at a time. The cells of the table are all different, so nothing is
saved because rows are alike.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xgboost

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAGE = Path(__file__).parent.parent / "docs" / "reliability.md"
SIZES: tuple[int, ...] = (1_000, 10_000, 100_000)
UP, DOWN = ("income", "age"), ("debt", "late")

BARE = """
import sys
import pandas as pd
from flipset import load_model
model, table = load_model(sys.argv[1]), pd.read_csv(sys.argv[2])
"""

LIBRARY = f"""
{BARE}
from flipset import Explainer, Space
space = Space.from_frame(table, increasing={UP!r}, decreasing={DOWN!r})
explanations = Explainer(model, space).explain_table(table)
assert len(explanations) == len(table)
"""

COMMAND = "import sys; from flipset.cli import main; main()"


def make_files(folder: Path, sizes: Sequence[int]) -> tuple[Path, list[Path]]:
    """Fit a model on a table with four columns; return its file, and tables of all sizes."""
    rng = np.random.default_rng(0)
    n = max(sizes)
    columns = rng.normal(50, 15, n), rng.normal(20, 8, n), rng.uniform(18, 80, n), rng.exponential(3, n)
    frame = pd.DataFrame(dict(zip(("income", "debt", "age", "late"), columns, strict=True)))
    margin = frame["income"] - 1.5 * frame["debt"] + 0.1 * frame["age"] - 2 * frame["late"] + rng.normal(0, 8, n)
    directions = (1, -1, 1, -1)
    model = xgboost.XGBClassifier(n_estimators=40, max_depth=3, monotone_constraints=directions, n_jobs=1)
    model.fit(frame, margin > 10).save_model(folder / "model.ubj")
    tables = [folder / f"{size}.csv" for size in sizes]
    for size, path in zip(sizes, tables, strict=True):
        frame.iloc[:size].to_csv(path, index=False)
    return folder / "model.ubj", tables


def peak(code: str, *args: object) -> float:
    """Run code in a new process; return the most memory that it took, in MB."""
    # A process in between, because the operating system has only the maximum over all children of a process.
    command: Sequence[str] = [sys.executable, "-c", PEAK, code, *map(str, args)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return int(done.stdout.split()[-1]) / 1024


PEAK = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-c", *sys.argv[1:]], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def measure(folder: Path, sizes: Sequence[int]) -> Iterator[str]:
    """Yield the lines of the table in the documentation."""
    yield "| rows of 4 columns | model and table alone | `explain_table` | `flipset table -o t.csv` |"
    yield "|--:|--:|--:|--:|"
    model, tables = make_files(folder, sizes)
    given = ["--increasing", ",".join(UP), "--decreasing", ",".join(DOWN)]
    for size, table in zip(sizes, tables, strict=True):
        figures = [
            peak(BARE, model, table),
            peak(LIBRARY, model, table),
            peak(COMMAND, "table", model, table, "-o", folder / "out.csv", *given),
        ]
        yield f"| {size:,} | {' | '.join(f'{figure:.0f} MB' for figure in figures)} |"


def main() -> None:
    """Read the command line, measure, print, and replace the table of the documentation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", action="store_true", help="measure a table of 1,000,000 rows, too")
    sizes = (*SIZES, 1_000_000) if parser.parse_args().million else SIZES
    lines = []
    with TemporaryDirectory() as folder:
        for line in measure(Path(folder), sizes):
            print(line, flush=True)
            lines.append(line)
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split("## Memory\n", 1)
    after = re.sub(r"(?m)(^\|.*\n)+", "".join(f"{line}\n" for line in lines), after, count=1)
    PAGE.write_text(f"{before}## Memory\n{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
