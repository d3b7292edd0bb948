"""Bodies of requests and answers as bytes: read into models and written as JSON, in the thread that does the work.

What is read goes through `flipset.boundary.reading.parse`, which bounds it, and then through a model of pydantic, which
refuses wrong types and unknown fields. A body that cannot be read is an `InputError` or a `Malformed`, never another
error.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from flipset.boundary.limits import MOST_PROBLEMS
from flipset.boundary.reading import parse
from flipset.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence


class Strict(BaseModel):
    """A request; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


S = TypeVar("S", bound=Strict)


class Malformed(Exception):
    """A request whose fields have wrong types or values; `problems` lists the first of them."""

    def __init__(self, errors: Sequence[Any]) -> None:
        super().__init__("the request is malformed")
        # The input is not repeated: it may have values that JSON lacks, such as NaN or half of a surrogate pair.
        self.problems = [
            {"type": one["type"], "loc": [*map(_part, one["loc"])], "msg": one["msg"]} for one in errors[:MOST_PROBLEMS]
        ]


def read_body(body: bytes, shape: type[S]) -> S:
    """Return the request that a body holds."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("the body of the request must be JSON in UTF-8") from None
    value = parse(text, "the body of the request")
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        raise Malformed(error.errors(include_url=False, include_context=False, include_input=False)) from None


def write_json(value: Any) -> bytes:
    """Return a value as JSON; half of a surrogate pair, which UTF-8 lacks, becomes an escape."""
    return json.dumps(clean(value), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def clean(value: Any) -> Any:
    """Return a value that JSON can represent: numbers that are not finite become null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): clean(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(one) for one in value]
    return value if value is None or isinstance(value, (str, int)) else str(value)


def takes(shape: type[Strict]) -> dict[str, Any]:
    """Return the part of the OpenAPI document that says what a route takes; the route reads the body by itself."""
    content = {"application/json": {"schema": shape.model_json_schema()}}
    return {"requestBody": {"required": True, "content": content}}


def _part(part: int | str) -> int | str:
    """Return a part of the location of an error, in a form that can be sent."""
    return part if isinstance(part, int) else repr(part[:80])[1:-1]
