"""Robots of the package robot_descriptions, as far as their files are on this disk already.

Importing one of its modules downloads a repository. So the modules are not imported: their assignments are read from
their text, which joins constant strings, and the files are looked for where the package keeps them.
"""

from __future__ import annotations

import ast
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kinetree.errors import MissingPackageError, ModelError, NameNotFoundError, nearest_names
from kinetree.records import record
from kinetree.source_code import syntax_tree

__all__ = ["Description", "description", "description_names"]

PACKAGE = "robot_descriptions"
_END = "_description"


@record(frozen=True, slots=True)
class Description:
    """A robot's file, and the arguments that a xacro file takes."""

    path: Path
    arguments: dict[str, str] | None = None
    """None unless it is a xacro file."""


def description_names() -> list[str]:
    """The names of all robots that the package knows, on this disk or not."""
    return sorted(file.stem for file in _folder().glob(f"*{_END}.py") if not file.stem.startswith("_"))


def description(name: str) -> Description:
    """The file of a robot, such as "panda_description"; nothing is downloaded."""
    folder = _folder()
    names = description_names()
    if name not in names and f"{name}{_END}" in names:
        name += _END
    if name not in names:
        raise NameNotFoundError(f"{PACKAGE!r} has no robot {name!r}: {nearest_names(name, names)}")
    values = _Module(folder, name).values
    for attribute in ("URDF_PATH", "MJCF_PATH", "XACRO_PATH"):
        value = values.get(attribute)
        if not isinstance(value, str):
            continue
        path = Path(value)
        if not path.is_file():
            raise MissingPackageError(
                f"the files of {name!r} are not on this disk; kinetree downloads nothing, but "
                f"`python -m {PACKAGE} pull {name}` or `python -c 'import {PACKAGE}.{name}'` does, once"
            )
        if attribute != "XACRO_PATH":
            return Description(path)
        arguments = values.get("XACRO_ARGS")
        return Description(path, {k: str(v) for k, v in arguments.items()} if isinstance(arguments, dict) else {})
    raise ModelError(
        f"{name!r} of {PACKAGE} makes its file as it is imported; import {PACKAGE}.{name} and load its URDF_PATH"
    )


def _folder() -> Path:
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise MissingPackageError(f"{PACKAGE} is not installed, which has robots by name: pip install {PACKAGE}")
    return Path(spec.submodule_search_locations[0])


class _Module:
    """The constants that a module of the package assigns."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self.values: dict[str, Any] = {}
        for statement in _parsed(folder / f"{name}.py").body:
            if isinstance(statement, ast.AnnAssign):
                targets: list[ast.expr] = [statement.target]
            elif isinstance(statement, ast.Assign):
                targets = statement.targets
            else:
                continue
            for target in targets:
                if isinstance(target, ast.Name):
                    self.values[target.id] = self._value(statement.value)

    def _value(self, node: ast.expr | None) -> Any:
        """A constant, a name, a dict of them, a joined path, or the folder of a repository; None for anything else."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.values.get(node.id)
        if isinstance(node, ast.Dict):
            return {self._value(k): self._value(v) for k, v in zip(node.keys, node.values, strict=True)}
        if not isinstance(node, ast.Call):
            return None
        called = ast.unparse(node.func).rpartition(".")[2].strip("_")
        arguments = [self._value(x) for x in node.args]
        if called == "join" and all(isinstance(x, str) for x in arguments):
            return os.path.join(*arguments)
        if called == "clone_to_cache" and arguments and isinstance(arguments[0], str):
            return self._repository(arguments[0])
        return None

    def _repository(self, name: str) -> str | None:
        """The folder in which the package keeps a repository."""
        cache = os.path.expanduser(os.environ.get("ROBOT_DESCRIPTIONS_CACHE", "~/.cache/robot_descriptions"))
        for node in ast.walk(_parsed(self._folder / "_repositories.py")):
            if not isinstance(node, ast.Dict):
                continue
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == name and isinstance(value, ast.Call):
                    options = {word.arg: self._value(word.value) for word in value.keywords}
                    inside = str(options.get("cache_path"))
                    if commit := os.environ.get("ROBOT_DESCRIPTION_COMMIT"):
                        inside = f"{inside}-{commit}/{inside}"
                    return os.path.join(cache, inside)
        return None


def _parsed(file: Path) -> ast.Module:
    try:
        return syntax_tree(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError) as error:
        raise ModelError(f"{file}: cannot be read: {error}") from None
