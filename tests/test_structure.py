"""The architecture, as a test: imports go one way, the public names are these, and importing costs little."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import flipset

PACKAGE = Path(flipset.__file__).parent

# What each module or package may import from flipset, beside itself. Read from the bottom up.
MAY_IMPORT = {
    "errors": set[str](),
    "plural": set[str](),
    "protocol": {"errors", "plural"},
    "index": {"protocol"},
    "known": {"protocol", "index"},
    "reading": {"errors"},
    "proof": {"errors", "plural", "reading"},
    "result": {"protocol", "proof"},
    "paper": {"errors", "protocol"},
    "layers": {"errors", "plural", "protocol", "known"},
    "drivers": {"errors", "plural", "protocol"},
    "reduction": {"errors", "protocol"},
    "testing": {"protocol"},
    "weights": {"errors", "protocol"},
    "engine": {"protocol", "index", "known", "weights"},
    "evidence": {"errors", "protocol", "index", "known", "weights", "engine"},
    "flipsets": {
        "errors",
        "protocol",
        "known",
        "proof",
        "result",
        "layers",
        "drivers",
        "weights",
        "engine",
        "evidence",
    },
    "scores": {"errors", "drivers"},
    "identity": set[str](),
    "space": {"errors", "identity"},
    "values": {"errors", "plural", "protocol", "space"},
    "moves": {"errors", "protocol", "space", "values"},
    "rows": {"errors", "identity", "space"},
    "tables": {"rows", "space"},
    "asking": {"errors", "plural", "protocol", "known", "scores"},
    "change": set[str](),
    "exchange": {"errors", "reading", "proof", "result", "space", "moves", "change"},
    "models": {"errors", "plural", "known", "scores", "identity", "tables"},
    "words": {"plural", "change"},
    "plots": {"errors", "change"},
    "report": {"plural", "change", "words"},
    "verification": set[str](),
    "verifying": {
        "errors",
        "protocol",
        "proof",
        "result",
        "space",
        "values",
        "moves",
        "rows",
        "change",
        "verification",
    },
    "explanation": {
        "errors",
        "drivers",
        "proof",
        "space",
        "values",
        "moves",
        "rows",
        "identity",
        "tables",
        "scores",
        "change",
        "exchange",
        "models",
        "words",
        "plots",
        "report",
        "verifying",
    },
    "contradictions": {"identity"},
    "blame": {"errors", "protocol", "moves", "contradictions"},
    "hunt": {"protocol", "values", "moves"},
    "advice": {"errors", "protocol", "values", "moves", "change", "hunt"},
    "chains": set[str](),
    "abreast": {"chains"},
    "scouting": {
        "errors",
        "protocol",
        "known",
        "proof",
        "result",
        "layers",
        "evidence",
        "flipsets",
        "scores",
        "space",
        "moves",
        "rows",
        "tables",
        "abreast",
    },
    "explaining": {
        "errors",
        "protocol",
        "layers",
        "weights",
        "proof",
        "result",
        "engine",
        "flipsets",
        "moves",
        "rows",
        "asking",
        "blame",
        "change",
        "explanation",
        "advice",
        "scouting",
    },
    "summaries": set[str](),
    "explanations": {"errors", "words", "plots", "report", "space", "summaries"},
    "audit": {"plural", "moves", "space"},
    "journal": {"errors", "scores", "space", "identity", "tables"},
    "measuring": {"errors", "models"},
    "defaults": {"errors", "space", "models"},
    "threads": set[str](),
    "workers": {"errors", "threads"},
    "together": {
        "errors",
        "plural",
        "known",
        "identity",
        "layers",
        "drivers",
        "models",
        "rows",
        "tables",
        "explaining",
        "scouting",
        "workers",
    },
    "asked": {
        "errors",
        "identity",
        "journal",
        "scores",
        "tables",
        "space",
        "values",
        "rows",
        "models",
        "explaining",
        "defaults",
        "measuring",
        "together",
    },
    "progress": set[str](),
    "batches": {
        "errors",
        "space",
        "tables",
        "explaining",
        "summaries",
        "explanations",
        "threads",
        "asked",
    },
    "distributed": {"summaries", "explanations", "batches"},
    "explainer": {
        "errors",
        "proof",
        "layers",
        "drivers",
        "moves",
        "explanation",
        "flipsets",
        "rows",
        "explaining",
        "explanations",
        "verifying",
        "audit",
        "together",
        "asked",
        "distributed",
        "progress",
    },
    "counterfactuals": {
        "errors",
        "protocol",
        "proof",
        "result",
        "drivers",
        "engine",
        "reduction",
        "scores",
        "flipsets",
    },
    "demo": {"errors", "plural", "space", "explainer", "threads", "words"},
    "__init__": {
        "errors",
        "protocol",
        "proof",
        "result",
        "drivers",
        "flipsets",
        "space",
        "values",
        "change",
        "verification",
        "explanation",
        "summaries",
        "explanations",
        "audit",
        "explainer",
        "models",
        "journal",
        "counterfactuals",
    },
    "bench": {"protocol", "layers", "drivers", "engine", "paper"},
    "serve": {
        "errors",
        "known",
        "space",
        "words",
        "report",
        "threads",
        "explanation",
        "explainer",
    },
    "cli": {
        "journal",
        "__init__",
        "errors",
        "plural",
        "threads",
        "audit",
        "together",
        "asked",
        "distributed",
        "flipsets",
        "space",
        "verifying",
        "explaining",
        "models",
        "words",
        "report",
        "bench",
        "demo",
        "serve",
    },
}

# These may import NumPy, narwhals, pandas, Rich or a model's library; the rest is the standard library alone.
USES_LIBRARIES = {
    "engine",
    "chains",
    "abreast",
    "scouting",
    "serve",
    "explanation",
    "explanations",
    "models",
    "plots",
    "progress",
    "reduction",
    "scores",
    "space",
    "rows",
    "tables",
    "identity",
    "values",
    "journal",
    "together",
    "asking",
    "batches",
    "distributed",
    "counterfactuals",
    "demo",
    "cli",
    "threads",
    "__init__",
}


def imports_of(path: Path) -> set[str]:
    """The modules a file imports at run time; what is only for the type checker does not count."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def modules() -> list[tuple[str, Path]]:
    return [(path.relative_to(PACKAGE).parts[0].removesuffix(".py"), path) for path in sorted(PACKAGE.rglob("*.py"))]


@pytest.mark.parametrize(("name", "path"), modules(), ids=lambda value: getattr(value, "stem", value))
def test_imports_go_one_way(name: str, path: Path) -> None:
    ours = {module for module in imports_of(path) if module.split(".")[0] == "flipset"}
    parts = {"__init__" if module == "flipset" else module.split(".")[1] for module in ours}
    assert parts - {name} <= MAY_IMPORT[name], path
    if name not in USES_LIBRARIES:
        foreign = {module.split(".")[0] for module in imports_of(path)} - {"flipset"} - set(sys.stdlib_module_names)
        assert not foreign, path


def test_the_order_is_an_order() -> None:
    placed: set[str] = set()
    for name, below in MAY_IMPORT.items():
        assert below <= placed, f"{name} may import something that stands above it"
        placed.add(name)
    assert placed == {name for name, _ in modules()}


def test_public_names_are_exactly_all() -> None:
    submodules = {name for name, _ in modules()} - {"__init__"}
    public = {name for name in vars(flipset) if not name.startswith("_")} - submodules
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
