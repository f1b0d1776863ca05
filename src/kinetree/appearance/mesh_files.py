"""Mesh files from disk, and their triangles kept there, so that the next process need not read them again."""

from __future__ import annotations

import errno
import hashlib
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from kinetree.appearance.file_mesh import FileMesh, from_bytes, to_bytes
from kinetree.codegen.kept.cache import user_cache
from kinetree.errors import ModelError
from kinetree.files import read_regular, reason
from kinetree.io.meshes import MeshFinder

__all__ = ["MOST_BESIDE", "Companions", "content", "file_mesh"]

_FORMAT = 7
"""Changes when files are read, or kept, in another way."""
_MEBIBYTE = 2**20
_MOST_BYTES = 256 * _MEBIBYTE
_MOST_IN_STL = 1024 * _MEBIBYTE
MOST_BESIDE = 64 * _MEBIBYTE
"""Bytes of an image, or of another file that a mesh or a robot file names."""
_HIGHEST = 5
"""How many folders above a mesh its package may begin."""
_FOLDERS = frozenset({"mesh", "meshes", "visual", "visuals", "collision", "collisions", "assets"})


def file_mesh(path: Path, most: int, content_type: str = "", *, as_mujoco: bool = False) -> FileMesh:
    """Read the triangles of a mesh file, with about `most` of them or fewer.

    Args:
        path: the file.
        most: how many triangles there may be, about.
        content_type: the attribute of MJCF, which overrides the ending of the file's name.
        as_mujoco: whether it is as MuJoCo sees it: without colours and images, and an OBJ file ends with its first
            object.

    Raises:
        ModelError: if the file is gone, too large, or cannot be read.
        MissingPackageError: for a format whose package is not installed.
    """
    from kinetree.appearance.assembly import assembled
    from kinetree.appearance.formats import format_of, read_pieces

    kind = format_of(path, content_type)
    data = content(path, _MOST_IN_STL if kind == ".stl" else _MOST_BYTES)
    digest = hashlib.sha256(f"kinetree mesh {_FORMAT} {most} {kind} {as_mujoco} ".encode())
    digest.update(data)
    key, cache = digest.digest(), user_cache()
    kept = None if cache is None else cache.read(key, "mesh")
    if kept is not None and Companions(path).are(mesh := from_bytes(kept)):
        return mesh
    companions = Companions(path)
    companion = _nothing if as_mujoco else companions.content
    pieces = read_pieces(kind, path, data, companion, first_only=as_mujoco)
    if as_mujoco:
        pieces = [replace(piece, color=None, colors=None, image=None) for piece in pieces]
    made = assembled(pieces, companion, most)
    made = replace(made, companions=tuple(sorted(companions.hashes.items())))
    if cache is not None and not made.is_provisional:
        cache.write(key, to_bytes(made), "mesh")
    return made


def _nothing(_: str) -> None:
    """No file other than the mesh is opened."""


def content(path: Path, most: int) -> bytes:
    """All that is in a file; a `ModelError` says why it cannot be read."""
    try:
        return read_regular(path, most)
    except (OSError, ValueError) as error:
        advice = "simplify it" if getattr(error, "errno", None) == errno.EFBIG else "it was there with the robot"
        raise ModelError(f"the file {path} cannot be read: {reason(error)}; {advice}") from None


class Companions:
    """The files that a mesh file names, such as images; they are opened only inside the package around it.

    A package is the next folder above with a package.xml; without one, it is the folder above those whose names say
    that they are for meshes, or the mesh's own.
    """

    def __init__(self, path: Path) -> None:
        self._finder = MeshFinder(path, [_package(path)])
        self.hashes: dict[str, str] = {}
        """The hashes by name in the mesh file; "" for missing files."""

    def content(self, name: str) -> bytes | None:
        """The content of the file of this name; None if it is missing. Where a path is another computer's, the file may
        be next to the mesh."""
        plain = unquote(name.strip()).replace("\\", "/")
        data = None
        for address in (plain, plain.rpartition("/")[2]):
            path = self._finder.find(address) if address else None
            if path is not None:
                data = content(path, MOST_BESIDE)
                break
        self.hashes[name] = "" if data is None else hashlib.sha256(data).hexdigest()
        return data

    def are(self, mesh: FileMesh) -> bool:
        """Whether they are those that a mesh was made with."""
        for name, _ in mesh.companions:
            self.content(name)
        return self.hashes == dict(mesh.companions)


def _package(path: Path) -> Path:
    folder = path.parent
    above = [folder, *folder.parents][:_HIGHEST]
    for one in above:
        if (one / "package.xml").is_file():
            return one
    while folder.name.lower() in _FOLDERS and folder.parent != folder:
        folder = folder.parent
    return folder
