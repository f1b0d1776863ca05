"""Public names whose modules are imported when the names are first asked for: a process needs few of them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec

from kinetree.locks import importing

__all__ = ["lazy_names"]


def lazy_names(
    package: str, homes: Mapping[str, str], error: type[AttributeError] = AttributeError
) -> Callable[[str], object]:
    """The `__getattr__` of a package (PEP 562) whose names are kept in modules below it.

    `homes` has the names that each module holds, with blanks between them; modules are named from the package on. What
    is in no module may be a module or a room of the package itself; any other name raises the error.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def __getattr__(name: str) -> object:
        if name in home_of:
            with importing:
                found = getattr(importlib.import_module(f"{package}.{home_of[name]}"), name)
            setattr(sys.modules[package], name, found)  # it is found without this function from now on
            return found
        if not name.startswith("_") and name.isidentifier() and find_spec(f"{package}.{name}") is not None:
            with importing:
                return importlib.import_module(f"{package}.{name}")
        raise error(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])

    return __getattr__
