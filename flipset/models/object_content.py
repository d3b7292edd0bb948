"""The content of fitted objects: estimators of scikit-learn, and all models that may be inside of them.

Objects of scikit-learn are taken apart as pickle does it, so what counts is exactly what a pickled copy would have.
Left out are settings that change no prediction, such as the number of threads, and the states of random generators.
A search (`GridSearchCV`) is the model that it found: it predicts by that one, and also keeps times.

Only code of libraries is known by its name. A function or a class of somebody's own may do anything, and two of the
same name may differ, so an object that has one raises `NotCanonical`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.errors import first_line
from flipset.models.booster_content import catboost_content, lightgbm_content, xgboost_content
from flipset.models.canonical import NotCanonical, unknown

if TYPE_CHECKING:
    from collections.abc import Callable

IGNORED = frozenset(
    {"n_jobs", "verbose", "memory", "pre_dispatch", "cache_size", "_sklearn_version"}
    | {"_stop_words_id"}  # a place in memory
    | {"_random_seed"}  # of histogram boosting, which draws one where none is given, and uses it for fitting alone
)
"""Attributes of scikit-learn's objects that change no prediction."""

NODE_STATISTICS = frozenset({"impurity", "n_node_samples", "weighted_n_node_samples", "gain", "count"})

NAMED = frozenset({"builtins", "collections", "copyreg", "functools", "math", "numpy", "operator", "scipy", "sklearn"})
"""Libraries whose functions and classes are known by their names."""

TAKEN_APART = frozenset({"collections", "datetime", "decimal", "fractions", "functools", "scipy", "sklearn"})
"""Libraries whose objects are taken apart as pickle does it."""

COMPILED = frozenset({"sklearn._loss._loss", "sklearn.linear_model._sgd_fast"})
"""Compiled modules whose objects are what they were made with. Others may change with use, such as search trees."""


def unfold(value: Any) -> tuple[str, Any]:
    """Return the name of what an object is, and its content; raise `NotCanonical` where there is none."""
    library = type(value).__module__.partition(".")[0]
    if library in CONTENTS:
        return library, _exported(CONTENTS[library], value)
    if any(base.__module__.partition(".")[0] == "torch" for base in type(value).__mro__):
        return "torch", torch_content(value)
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return "random", None
    if isinstance(value, np.dtype):
        return "dtype", value.newbyteorder("<").str if value.names is None else unknown(value)
    if isinstance(value, np.ufunc):
        return "function", _function_name(value)
    if hasattr(value, "__qualname__"):
        return "name", _name(value)
    if library == "scipy" and hasattr(value, "tocsr"):
        return _sparse(value)
    if library in TAKEN_APART:
        return _taken_apart(value, library)
    return unknown(value)


def _exported(content: Callable[[Any], Any], model: Any) -> Any:
    try:
        return content(model)
    except NotCanonical:
        raise
    except Exception as error:  # libraries cannot write all of their models: CatBoost has no JSON for those of text
        raise NotCanonical(f"{type(model).__qualname__}: {first_line(error)}") from error


# --- objects of scikit-learn ------------------------------------------------------------------------------------------


def _taken_apart(value: Any, library: str) -> tuple[str, Any]:
    kind = type(value)
    name = _name(kind)
    if library == "sklearn":
        if kind.__module__.startswith("sklearn.model_selection.") and kind.__name__.endswith("SearchCV"):
            return _found(value)
        if name == "sklearn.tree.Tree":
            return name, _tree(value)
        if name == "sklearn.ensemble.predictor.TreePredictor":
            return name, {part: _nodes(array) for part, array in vars(value).items()}
        if name == "sklearn.utils.Bunch":  # a dictionary whose attributes pickle forgets
            return name, dict(value)
    if library in ("sklearn", "scipy") and not _is_python(kind) and kind.__module__ not in COMPILED:
        return unknown(value)
    try:
        reduced = value.__reduce_ex__(2)
    except TypeError:
        return unknown(value)
    if isinstance(reduced, str):
        return unknown(value)
    make, args, state, items, pairs = (*reduced, None, None, None)[:5]
    if isinstance(state, dict):
        ignored = IGNORED | {"random_state"} if kind.__name__ == "_BinMapper" else IGNORED  # the same seed
        state = {part: one for part, one in state.items() if part not in ignored}
    return name, [make, args, state, None if items is None else list(items), None if pairs is None else dict(pairs)]


def _found(search: Any) -> tuple[str, Any]:
    best = getattr(search, "best_estimator_", None)
    return unknown(search) if best is None else unfold(best)


def _is_python(kind: type) -> bool:
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return file is not None and file.endswith(".py")


def _tree(tree: Any) -> Any:
    made = tree.__reduce__()[2]
    nodes = _nodes(made["nodes"])
    if "missing_go_to_left" in nodes:  # it is not initialised in leaves
        nodes["missing_go_to_left"] = np.where(nodes["left_child"] == -1, 0, nodes["missing_go_to_left"])
    return [tree.n_features, tree.n_classes, tree.n_outputs, nodes, made["values"]]


def _nodes(nodes: Any) -> Any:
    """Return the fields of nodes that predictions depend on; anything else as it is."""
    names = getattr(getattr(nodes, "dtype", None), "names", None)
    if names is None:
        return nodes
    return {name: np.ascontiguousarray(nodes[name]) for name in names if name not in NODE_STATISTICS}


def _sparse(matrix: Any) -> tuple[str, Any]:
    rows = matrix.tocsr(copy=True)
    rows.sum_duplicates()  # this sorts the columns of each row, too
    indices = [part.astype(np.int64) for part in (rows.indices, rows.indptr)]
    return "scipy.sparse", [matrix.format, tuple(map(int, matrix.shape)), rows.data, *indices]


# --- functions and classes --------------------------------------------------------------------------------------------


def _name(value: Any) -> str:
    """Return the name of a function or a class of a library, without private modules, which move between versions."""
    module, name = str(getattr(value, "__module__", "")), str(value.__qualname__)
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not value or module.partition(".")[0] not in NAMED | TAKEN_APART:
        raise NotCanonical(f"{module}.{name}")
    return ".".join([*(part for part in module.split(".") if not part.startswith("_")), name])


def _function_name(function: np.ufunc) -> str:
    for module in ("numpy", "scipy.special"):
        if getattr(sys.modules.get(module), function.__name__, None) is function:
            return f"{module}.{function.__name__}"
    raise NotCanonical(f"the function {function.__name__}")


# --- runtimes ---------------------------------------------------------------------------------------------------------


def onnx_content(session: Any) -> bytes:
    """Return the bytes that a session was made of. One that was made of a file has none: the file may have changed."""
    made_of = getattr(session, "_model_bytes", None)
    if not isinstance(made_of, bytes):
        raise NotCanonical("a session that was made of a file")
    return onnx_bytes(made_of)


def onnx_bytes(made_of: bytes) -> bytes:
    """Return the bytes of an ONNX model that is complete in itself."""
    if b"\x0a\x08location" in made_of:  # the name of a file with more of the model
        raise NotCanonical("a model of ONNX with data in other files")
    return made_of


def torch_content(module: Any) -> Any:
    """Return the layers and tensors of a module that is built from PyTorch's own layers alone."""
    if not hasattr(module, "named_modules"):
        return unknown(module)
    layers = []
    for name, layer in module.named_modules(remove_duplicate=False):
        state = vars(layer)
        hooks = any(part for key, part in state.items() if key.endswith(("hooks", "hooks_with_kwargs")))
        if not type(layer).__module__.startswith("torch.nn.modules.") or hooks:
            raise NotCanonical(f"a layer {type(layer).__qualname__}")
        settings = {key: part for key, part in state.items() if not key.startswith("_") and key != "training"}
        layers.append([name, type(layer).__qualname__, settings])
    tensors = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    return [layers, [(name, str(tensor.dtype), _array(tensor)) for name, tensor in tensors]]


def _array(tensor: Any) -> Any:
    plain = tensor.detach().cpu()
    return (plain.double() if plain.is_floating_point() else plain).numpy()  # NumPy has no bfloat16


CONTENTS: dict[str, Callable[[Any], Any]] = {
    "xgboost": xgboost_content,
    "lightgbm": lightgbm_content,
    "catboost": catboost_content,
    "onnxruntime": onnx_content,
}
"""The content of a model, by the library that it is of."""
