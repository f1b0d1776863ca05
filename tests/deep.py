"""Which of many parameters are tried each time, and which where all is deep (`pytest -m deep`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

__all__ = ["one_in"]


def one_in(count: int, values: Iterable[Any] | Mapping[str, Any], first: int = 0) -> list[Any]:
    """Parameters of a test: one in so many is tried each time, from the first on, and the others where all is deep.

    For tests whose claim is the same one for each parameter: of a mapping the values, named by their keys; functions
    are named as they are.
    """
    named = values.items() if isinstance(values, Mapping) else [(_name(value), value) for value in values]
    return [
        pytest.param(
            *(value.values if isinstance(value, _Parameter) else (value,)),
            id=name,
            marks=() if k % count == first else pytest.mark.deep,
        )
        for k, (name, value) in enumerate(named)
    ]


_Parameter = type(pytest.param())


def _name(value: Any) -> str | None:
    if isinstance(value, _Parameter):
        return value.id  # type: ignore[attr-defined, no-any-return]
    return str(getattr(value, "__name__", value)) if callable(value) or isinstance(value, str) else None
