"""Whether a framework is installed, and new enough."""

from __future__ import annotations

import importlib
import re

from kinetree.errors import MissingPackageError

__all__ = ["check_installed"]


def check_installed(adapter: str, package: str, oldest: tuple[int, int] = (0, 0)) -> None:
    """Raise `MissingPackageError` if the package is missing, or older than the oldest that works; import it else.

    `adapter` is the function that the user called; the package is also the name of kinetree's extra.
    """
    try:
        found: str = importlib.import_module(package).__version__
    except ImportError:
        raise MissingPackageError(f"{adapter} needs {package}: pip install 'kinetree[{package}]'") from None
    if tuple(map(int, re.findall(r"\d+", found)[:2])) < oldest:
        raise MissingPackageError(
            f"{adapter} needs {package} {oldest[0]}.{oldest[1]} or newer, and {found} is installed: "
            f"pip install --upgrade 'kinetree[{package}]'"
        )
