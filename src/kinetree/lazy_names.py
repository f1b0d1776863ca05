"""Public names whose modules are imported when the names are first asked for: a process needs few of them."""

from __future__ import annotations

import builtins
import importlib
import sys
import warnings
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from importlib.util import find_spec
from types import FrameType, MappingProxyType, ModuleType, SimpleNamespace
from typing import Any

from kinetree.locks import collecting, importing

__all__ = ["lazy_names"]


@contextmanager
def lazy_names(
    package: str, error: type[AttributeError] = AttributeError, moved: Mapping[str, str] = MappingProxyType({})
) -> Iterator[None]:
    """Defers the imports in its block, which are `from module import name, …`, until a name is first asked for.

    The package gets a `__getattr__` (PEP 562). A name in no module may be a module or a room of the package itself; any
    other name raises the error. A name that a module shares is that of the object in it: Python would bind it to the
    module, as soon as that is imported. `moved` has the names, with blanks between them, that are now in modules of the
    package: they are found with a warning.

    `dir` of the package lists its public names, whether they are imported yet or not, and leaves out its modules.
    """
    home_of: dict[str, str] = {}
    group_of = {name: group for group, names in moved.items() for name in names.split()}
    module = sys.modules[package]

    def note(name: str, globals: Mapping[str, object] | None = None, *rest: Any, **named: Any) -> Any:
        if globals is not vars(module):  # an import of somebody else, in another thread or a finalizer
            return before(name, globals, *rest, **named)
        names = dict.fromkeys(rest[1])  # the statement gives locals, names and level, in this order
        home_of.update(dict.fromkeys(names, name))
        return SimpleNamespace(**names)

    with collecting:
        before, builtins.__import__ = builtins.__import__, note
        try:
            yield
        finally:
            builtins.__import__ = before
    for name in home_of:
        delattr(module, name)
    home_of = {name: home for name, home in home_of.items() if home != package}  # its rooms are found as such
    below = {home.removeprefix(f"{package}.") for home in home_of.values() if home.startswith(f"{package}.")}
    shared = home_of.keys() & {home.partition(".")[0] for home in below}
    if shared:
        module.__class__ = _without_modules(shared)

    def __getattr__(name: str) -> object:
        if name in home_of:
            with _imports():
                value = getattr(importlib.import_module(home_of[name]), name)
            setattr(module, name, value)  # it is found without this function from now on
            return value
        if name in group_of:
            home = f"{package}.{group_of[name]}"
            warnings.warn(f"{package}.{name} is {home}.{name} now", DeprecationWarning, stacklevel=2)
            return getattr(importlib.import_module(home), name)
        may_be_module = "__path__" in vars(module) and name.isidentifier() and not name.startswith("_")
        if may_be_module and find_spec(f"{package}.{name}") is not None:
            with _imports():
                return importlib.import_module(f"{package}.{name}")
        raise error(f"module {package!r} has no attribute {name!r}", name=name, obj=module)

    def __dir__() -> list[str]:
        return [*module.__all__, *(name for name in vars(module) if name.startswith("__"))]

    for function in (__getattr__, __dir__):
        setattr(module, function.__name__, function)


def _without_modules(names: Set[str]) -> type[ModuleType]:
    """The class of a package in which these names are never those of its modules."""

    class Package(ModuleType):
        def __setattr__(self, name: str, value: object) -> None:
            if name not in names or not isinstance(value, ModuleType):
                super().__setattr__(name, value)

    return Package


@contextmanager
def _imports() -> Iterator[None]:
    """Holds `importing`, unless another thread does and this one is inside an import statement: the other thread may
    be waiting for the lock that Python puts on a module while it is imported."""
    holds = importing.acquire(blocking=False) or (not _is_importing() and importing.acquire())
    try:
        yield
    finally:
        if holds:
            importing.release()


def _is_importing() -> bool:
    """Whether a module of kinetree is being imported in this thread."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals["__name__"].startswith("kinetree."):
            return True
        frame = frame.f_back
    return False
