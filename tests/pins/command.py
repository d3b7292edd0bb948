"""`python -m tests.pins`: write the pins, compare with them, or show a case."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import monotonic

from tests.pins.cases import CASES, family_of
from tests.pins.transcripts import ASPECTS, pin_of, text_of

PINS = Path(__file__).with_name("pins.json")


def read_pins() -> dict[str, str]:
    """Return the pins that were written."""
    found: dict[str, str] = json.loads(PINS.read_text(encoding="utf-8"))
    return found


def run_case(name: str) -> tuple[str, str, float]:
    """Run one case; return its name, its pin, and how long it took."""
    start = monotonic()
    pin = pin_of(CASES[name]())
    return name, pin, monotonic() - start


def run_all(names: Sequence[str], jobs: int) -> Iterator[tuple[str, str, float]]:
    """Run cases, in so many processes."""
    if jobs == 1:
        yield from map(run_case, names)
        return
    # Not a Pool of multiprocessing: its processes may have none of their own, as cases about tables do.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(run_case, names, chunksize=8)


def differences(old: str | None, new: str) -> str:
    """Tell in which aspects, and on how many rows of a table, two pins differ."""
    if old is None:
        return "new"
    (was, *rows_before), (now, *rows_now) = old.split(" "), new.split(" ")
    pairs = zip(ASPECTS, was.split(":"), now.split(":"), strict=True)
    told = [aspect for aspect, before, after in pairs if before != after]
    if len(rows_before) != len(rows_now):
        return ", ".join([*told, "number of rows"])
    rows = [str(i) for i, (before, after) in enumerate(zip(rows_before, rows_now, strict=True)) if before != after]
    return ", ".join(told) + (f" (rows {' '.join(rows)})" if rows else "")


def tell_differences(before: dict[str, str], now: dict[str, str]) -> bool:
    """Print what differs, family by family; say whether anything does."""
    families: dict[str, list[str]] = {}
    for name, pin in sorted(now.items()):
        if before.get(name) != pin:
            families.setdefault(family_of(name), []).append(f"  {name}: {differences(before.get(name), pin)}")
    for family, lines in families.items():
        total = sum(family_of(name) == family for name in now)
        print(f"{family}: {len(lines)} of {total} differ", *lines, sep="\n")
    return bool(families)


def write_pins(pins: dict[str, str]) -> None:
    """Write pins, one a line, in order."""
    PINS.write_text(json.dumps(dict(sorted(pins.items())), indent=0) + "\n", encoding="utf-8")


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.pins", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--only", default="", metavar="PREFIX", help="cases whose names begin so")
    parser.add_argument("--show", metavar="NAME", help="print what a case did, as JSON")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes")
    parser.add_argument("--slowest", type=int, default=0, metavar="N", help="tell which cases took longest")
    return parser.parse_args()


def main() -> None:
    """Do as told."""
    given = read_arguments()
    if given.show is not None:
        print(json.dumps(json.loads(text_of(CASES[given.show]())), indent=1, ensure_ascii=False))
        return
    names = [name for name in CASES if name.startswith(given.only)]
    start = monotonic()
    done = list(run_all(names, given.jobs))
    now = {name: pin for name, pin, _ in done}
    for name, _, seconds in sorted(done, key=lambda one: -one[2])[: given.slowest]:
        print(f"{seconds:7.2f} s  {name}")
    print(f"{len(now):,} cases in {monotonic() - start:.0f} s", file=sys.stderr)
    before = read_pins() if PINS.exists() else {}
    if given.check:
        gone = sorted(name for name in before if name.startswith(given.only) and name not in now)
        print(*(f"{name}: gone" for name in gone), sep="\n", end="\n" * bool(gone))
        sys.exit(tell_differences(before, now) or bool(gone))
    kept = {name: pin for name, pin in before.items() if not name.startswith(given.only)}
    write_pins(kept | now)
