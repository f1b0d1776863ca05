"""Whether a framework is installed, and new enough."""

from __future__ import annotations

import importlib
import re
from importlib.metadata import packages_distributions, version

from kinetree.errors import MissingPackageError

__all__ = ["check_installed"]


def check_installed(adapter: str, package: str, oldest: tuple[int, int] = (0, 0), *, extra: str = "") -> None:
    """Raise `MissingPackageError` if the package is missing, or older than the oldest that works; import it else.

    `adapter` is the function that the user called; kinetree's extra is called like the package unless it is given.
    """
    command = f"'kinetree[{extra or package}]'"
    try:
        module = importlib.import_module(package)
        installed: str = getattr(module, "__version__", None) or version(packages_distributions()[package][0])
    except ImportError:
        raise MissingPackageError(f"{adapter} needs {package}: pip install {command}") from None
    if tuple(map(int, re.findall(r"\d+", installed)[:2])) < oldest:
        raise MissingPackageError(
            f"{adapter} needs {package} {oldest[0]}.{oldest[1]} or newer, and {installed} is installed: "
            f"pip install --upgrade {command}"
        )
