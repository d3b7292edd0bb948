"""The architecture, as a test: imports go one way, the public names are these, and importing costs little."""

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import flipset

PACKAGE = Path(flipset.__file__).parent

# The rooms of the house, in the order in which data flows. A module may import from its own room and from those above
# it in this list, for types too. Each line says what a room holds, or why it stands where it does. `make architecture`
# draws the picture of docs/architecture.md from this list.
ROOMS = {
    "version": "the version, which explanations carry",
    "flipset_check": "checks an explanation: one file that can be copied anywhere, so it imports nothing of flipset",
    "plural": "counts with their nouns, for messages; first, because errors have them",
    "errors": "what can go wrong, and whose turn it is to act",
    "boundary": "what crosses the program's boundary: files read within limits, files written, processes, a terminal",
    "protocol": "the contract of searches, layers and drivers",
    "proof": "proofs and their checker; before the searches, so that they share no code",
    "sets": "what answers about sets imply",
    "paper": "the paper's algorithms; they use nothing that was added to the paper",
    "layers": "flows around flows: count, remember, budget, guard, trace",
    "drivers": "run flows by asking the model",
    "testing": "contracts for searches, layers, drivers and scorers of others",
    "search": "the guided search, the table search, and the proof of what they find",
    "space": "what may change in a row, and conditions on columns; the rooms before it know no columns",
    "models": "how rows are scored: fitted models, files, endpoints",
    "journal": "answers kept on disk, so that none is paid for twice",
    "answers": "what was asked about one row, and whether the answers agree",
    "values": "the least values inside a flip set; they ask, so after answers",
    "results": "explanations as data: JSON, summary, verification",
    "show": "results for people: text, reports, pictures",
    "explain": "one row, a table, an audit: all of the above together",
    "flipsets": "what users call for set functions",
    "counterfactuals": "what users call for functions of plain arrays",
    "clusters": "one batch in, one batch out, for Spark and Dask",
    "explainer": "what users call for models and tables",
    "__init__": "the public names",
    "demo": "an example that needs no file",
    "serve": "the page",
    "cli": "the commands, which call everything",
    "__main__": "the commands, for `python -m flipset`",
}

# Rooms that need only the standard library: they run wherever Python does.
PLAIN_ROOMS = {
    "version",
    "flipset_check",
    "errors",
    "plural",
    "boundary",
    "protocol",
    "proof",
    "sets",
    "paper",
    "layers",
    "drivers",
    "testing",
    "flipsets",
}


def modules() -> dict[str, Path]:
    """All modules by their dotted names."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ["flipset", *path.relative_to(PACKAGE).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def room_of(module: str) -> str:
    return "__init__" if module == "flipset" else module.split(".")[1]


def imports_of(path: Path) -> set[str]:
    """The modules that a file imports, at the top, inside functions and for the type checker alike."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from room import module` imports the room itself, too.
            found |= {node.module} | ({f"{node.module}.{alias.name}" for alias in node.names} & MODULES.keys())
    return found


def ours(module: str) -> set[str]:
    return {name for name in imports_of(MODULES[module]) if name in MODULES} - {module}


def test_every_room_is_on_the_list() -> None:
    assert {room_of(module) for module in MODULES} == set(ROOMS)


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_one_way(module: str) -> None:
    order = list(ROOMS)
    late = {name for name in ours(module) if order.index(room_of(name)) > order.index(room_of(module))}
    assert not late, f"{module} imports from rooms that come later: {sorted(late)}"


def test_no_module_imports_itself_through_others() -> None:
    try:
        TopologicalSorter({module: ours(module) for module in MODULES}).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


@pytest.mark.parametrize("module", [module for module in MODULES if room_of(module) in PLAIN_ROOMS])
def test_plain_rooms_need_the_standard_library_alone(module: str) -> None:
    foreign = {name.split(".")[0] for name in imports_of(MODULES[module])} - {"flipset"} - set(sys.stdlib_module_names)
    assert not foreign


def test_public_names_are_exactly_all() -> None:
    public = {name for name in vars(flipset) if not name.startswith("_")} - set(ROOMS)
    assert public == set(flipset.__all__)
    assert list(flipset.__all__) == sorted(flipset.__all__, key=lambda name: (not name[0].isupper(), name))


def test_importing_flipset_imports_numpy_at_most() -> None:
    # Modules without a file are made at run time by compiled ones (NumPy 1 has such) and are nobody's import.
    code = (
        "import sys; before = set(sys.modules); import flipset; "
        "new = [m for m in set(sys.modules) - before if getattr(sys.modules[m], '__file__', None)]; "
        "print(*{m.split('.')[0] for m in new} - sys.stdlib_module_names - {'flipset'})"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert set(out.split()) <= {"numpy"}
