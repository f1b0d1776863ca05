"""Public names whose modules are imported when the names are first asked for: a process needs few of them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from importlib.util import find_spec
from types import FrameType, ModuleType

from kinetree.locks import importing

__all__ = ["lazy_names"]


def lazy_names(
    package: str, homes: Mapping[str, str], error: type[AttributeError] = AttributeError
) -> Callable[[str], object]:
    """The `__getattr__` of a package (PEP 562) whose names are kept in modules below it.

    `homes` has the names that each module holds, with blanks between them; modules are named from the package on. What
    is in no module may be a module or a room of the package itself; any other name raises the error. A name that a
    module shares is that of the object in it: Python would bind it to the module, as soon as that is imported.

    `dir` of the package lists its public names, whether they are imported yet or not, and leaves out its modules.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}
    module = sys.modules[package]
    shared = home_of.keys() & {home.partition(".")[0] for home in homes}
    if shared:
        module.__class__ = _without_modules(shared)

    def __getattr__(name: str) -> object:
        if name in home_of:
            with _imports():
                found = getattr(importlib.import_module(f"{package}.{home_of[name]}"), name)
            setattr(module, name, found)  # it is found without this function from now on
            return found
        if not name.startswith("_") and name.isidentifier() and find_spec(f"{package}.{name}") is not None:
            with _imports():
                return importlib.import_module(f"{package}.{name}")
        raise error(f"module {package!r} has no attribute {name!r}", name=name, obj=module)

    def __dir__() -> list[str]:
        return [*module.__all__, *(name for name in vars(module) if name.startswith("__"))]

    setattr(module, "__dir__", __dir__)  # noqa: B010, mypy knows no modules with one
    return __getattr__


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
