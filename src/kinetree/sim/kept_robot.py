"""The robot of a motion: itself, or its description in a file, from which it is made on first use.

A file of a motion has the robot's text form (`kinetree docs model_text`), and the paths at which its meshes and images
were found. Reading the file opens none of them, and runs nothing. Somebody else may have written the file, so a path
without the suffix of a mesh or an image is dropped, and code that draws the robot opens regular files only.
"""

from __future__ import annotations

import json
import os
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kinetree.errors import ModelError, TrajectoryFileError
from kinetree.files import read_regular, reason
from kinetree.io.native.writing import write_text
from kinetree.model import Geometry, Model
from kinetree.model.by_identity import ByIdentity

__all__ = ["KeptRobot"]

_SUFFIXES = frozenset((".stl", ".obj", ".dae", ".glb", ".gltf", ".ply", ".msh", ".off", ".3mf", ".png"))
"""Suffixes of meshes and height fields."""
_IMAGES = frozenset((".png", ".jpg", ".jpeg", ".bmp", ".tga", ".tif", ".tiff", ".gif", ".webp"))
_LONGEST = 2**26
"""Bytes that are read of a robot; the text of a chain of 10,000 has 3 · 10⁶."""
_texts: ByIdentity[str] = ByIdentity()
_made: weakref.WeakValueDictionary[str, Model] = weakref.WeakValueDictionary()
"""Robots by their descriptions in files: all files of one robot give the same object, which is compiled once."""
_lock = threading.Lock()


class KeptRobot:
    """The robot of a motion. It never changes; a file's description is read when `model` is first used."""

    __slots__ = ("_model", "_text")

    def __init__(self, model: Model | None, text: str = "") -> None:
        self._model = model
        self._text = text

    @classmethod
    def of_file(cls, path: Path) -> KeptRobot | None:
        """The robot in a file of a folder, not read yet; None if the file does not exist.

        Raises `TrajectoryFileError`.
        """
        try:
            return cls(None, read_regular(path, _LONGEST).decode())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise TrajectoryFileError(f"{path} cannot be read: {reason(error)}") from None

    @property
    def text(self) -> str:
        """Its description in a file."""
        if self._model is None:
            return self._text
        if self._model not in _texts:
            _texts[self._model] = _text_of(self._model)
        return _texts[self._model]

    @property
    def model(self) -> Model | None:
        """The robot; None if the file does not have it.

        Raises:
            ModelError: the robot has no text form, or it is of a newer kinetree.
            TrajectoryFileError: the description in the file is damaged.
        """
        if self._model is None and self._text:
            with _lock:
                model = _made.get(self._text)
                if model is None:
                    _made[self._text] = model = _model_of(self._text)
                self._model = model
        return self._model

    def __eq__(self, other: object) -> bool:
        """Whether files say the same of the two."""
        if not isinstance(other, KeptRobot):
            return NotImplemented
        return (self._model is not None and self._model is other._model) or self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __deepcopy__(self, memo: dict[int, Any]) -> KeptRobot:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return KeptRobot, (self._model, self._text)


def _text_of(robot: Model) -> str:
    from kinetree.model.extras import image_paths

    try:
        fields: dict[str, Any] = {"text": write_text(robot)}
        fields["meshes"] = [_address(shape.mesh_path, _SUFFIXES) for shape in _meshes(robot)]
        if images := [_address(path, _IMAGES) for path in image_paths(robot.extras)]:
            fields["images"] = images
    except ModelError as error:
        fields = {"reason": str(error)}
    return json.dumps(fields)


def _meshes(robot: Model) -> Iterator[Geometry]:
    """The shapes with a mesh, in the order of the text form."""
    return (shape for link in robot.parts.links for shape in link.geometry if shape.mesh)


def _address(path: Path | None, suffixes: frozenset[str]) -> str | None:
    return os.path.abspath(path) if path is not None and _ends_with(str(path), suffixes) else None


def _ends_with(path: str, suffixes: frozenset[str]) -> bool:
    return os.path.splitext(path)[1].lower() in suffixes


def _model_of(text: str) -> Model:
    from kinetree.io.native.reading import read_text

    try:
        fields = json.loads(text)
        reason = fields.get("reason")
        form = fields.get("text", "")
        meshes = iter([_path(place, _SUFFIXES) for place in fields.get("meshes", ())])
        images = iter([_path(place, _IMAGES) for place in fields.get("images", ())])
        if not isinstance(reason or form, str):
            raise ValueError("it holds something else")
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise TrajectoryFileError(f"the robot in the file of this motion is damaged: {error}") from None
    if reason is not None:
        raise ModelError(f"the file of this motion does not have its robot: {reason}")
    try:
        return read_text(form, find_mesh=lambda _: next(meshes, None), find_image=lambda _: next(images, None))
    except ModelError as error:
        raise ModelError(f"the robot in the file of this motion cannot be made again: {error}") from None


def _path(place: Any, suffixes: frozenset[str]) -> Path | None:
    if not isinstance(place, str | None):
        raise ValueError("a path is not text")
    return Path(place) if place and _ends_with(place, suffixes) else None
