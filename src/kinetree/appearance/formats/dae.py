"""COLLADA (DAE) files: triangles with colours and images, and where their scene places them.

Lengths are converted to metres; the axis that the file calls "up" changes nothing, as in ROS, where these files come
from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.formats.dae_materials import Materials
from kinetree.appearance.formats.piece import Piece, color_bytes, fans, joined_corners
from kinetree.errors import ModelError
from kinetree.solids.meshes import numbers_in

__all__ = ["read_dae"]

_MOST_INDICES = 1000
"""Numbers of a row of a table, and indices of a corner."""
_MOST_NODES = 100_000
_DEEPEST = 200
_MOST_CORNERS = 50_000_000
"""Corners and vertices of all instances together, which are all in memory."""

Floats = NDArray[np.float64]


def read_dae(where: object, data: bytes) -> list[Piece]:
    """The triangles of a COLLADA file, one piece per instance and material."""
    root = _parsed(where, data)
    if root.tag != "COLLADA":
        raise ModelError(f"{where}: the file's first element is <{root.tag}>, not <COLLADA>; is it another format?")
    return list(_Scene(where, root).pieces())


def _parsed(where: object, data: bytes) -> Element:
    """The root element; names are without their namespaces. Entities, which could grow or open files, are rejected."""
    builder = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.buffer_size = 1 << 20

    def start(tag: str, attributes: Mapping[str, str]) -> None:
        builder.start(tag.rpartition("}")[2], dict(attributes))

    def refuse(*_: object) -> None:
        raise ModelError(f"{where}: the file defines entities, which a mesh does not need; export it again")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: builder.end(tag.rpartition("}")[2])
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ModelError(f"{where}: the file is not XML: {error}; is it cut off?") from None
    except (LookupError, ValueError) as error:
        raise ModelError(f"{where}: the file is not XML in an encoding that is read: {error}") from None
    return builder.close()


class _Scene:
    def __init__(self, where: object, root: Element) -> None:
        self._where = where
        self._by_id = {one.get("id", ""): one for one in root.iter() if one.get("id")}
        self._materials = Materials(root, self._by_id)
        unit = root.find("asset/unit")
        self._meter = float(numbers_in(where, "1" if unit is None else unit.get("meter", "1"))[0])
        self._root = root
        self._nodes = self._corners = 0
        self._read: dict[int, list[tuple[str, Piece]]] = {}

    def pieces(self) -> Iterator[Piece]:
        instance = self._root.find("scene/instance_visual_scene")
        scene = None if instance is None else self._target(instance.get("url", ""))
        if scene is None:
            scene = self._root.find("library_visual_scenes/visual_scene")
        if scene is None:  # geometries without a scene are where they are
            for geometry in self._root.findall("library_geometries/geometry"):
                yield from self._placed(geometry, np.eye(4), {})
            return
        for node in scene.findall("node"):
            yield from self._under(node, np.eye(4), 0)

    def _under(self, node: Element, outer: Floats, depth: int) -> Iterator[Piece]:
        self._nodes += 1
        if self._nodes > _MOST_NODES or depth > _DEEPEST:
            raise ModelError(f"{self._where}: its scene has too many nodes, or nodes in themselves; simplify it")
        pose = outer @ self._pose(node)
        for child in node:
            if child.tag == "node":
                yield from self._under(child, pose, depth + 1)
            elif child.tag == "instance_node":
                if (target := self._target(child.get("url", ""))) is not None:
                    yield from self._under(target, pose, depth + 1)
            elif child.tag in ("instance_geometry", "instance_controller"):
                geometry, bind = self._geometry(child.get("url", ""))
                if geometry is not None:
                    yield from self._placed(geometry, pose @ bind, self._materials.bound(child))

    def _geometry(self, url: str) -> tuple[Element | None, Floats]:
        element = self._target(url)
        skin = None if element is None else element.find("skin")
        if skin is None:
            return element, np.eye(4)
        matrix = skin.find("bind_shape_matrix")
        bind = np.eye(4) if matrix is None else self._numbers(matrix, 16).reshape(4, 4)
        return self._target(skin.get("source", "")), bind

    def _placed(self, geometry: Element, pose: Floats, bound: dict[str, str]) -> Iterator[Piece]:
        if id(geometry) not in self._read:
            self._read[id(geometry)] = list(self._primitives(geometry))
        R = pose[:3, :3] * self._meter
        is_mirrored = np.linalg.det(pose[:3, :3]) < 0.0
        for symbol, piece in self._read[id(geometry)]:
            self._corners += 3 * len(piece.faces) + len(piece.vertices)
            if self._corners > _MOST_CORNERS:
                raise ModelError(f"{self._where}: its scene shows more than {_MOST_CORNERS:,} corners; simplify it")
            normals = piece.normals
            if normals is not None:
                cofactors = np.stack([np.cross(R[1], R[2]), np.cross(R[2], R[0]), np.cross(R[0], R[1])])
                normals = normals @ (-cofactors if is_mirrored else cofactors).T
            color, image = self._materials.of(bound.get(symbol, symbol))
            yield Piece(
                piece.vertices @ R.T + pose[:3, 3] * self._meter,
                piece.faces[:, ::-1] if is_mirrored else piece.faces,
                normals, piece.uv, piece.colors, color, image,
            )  # fmt: skip

    def _primitives(self, geometry: Element) -> Iterator[tuple[str, Piece]]:
        mesh = geometry.find("mesh")
        for primitive in () if mesh is None else mesh:
            if primitive.tag in ("triangles", "polylist", "polygons"):
                piece = self._primitive(primitive)
                if piece is not None:
                    yield primitive.get("material", ""), piece

    def _primitive(self, primitive: Element) -> Piece | None:
        """Polygons as triangles; None without any."""
        inputs, stride = self._inputs(primitive)
        lists = [numbers_in(self._where, p.text or "", int) for p in primitive.findall("p")]
        if "POSITION" not in inputs or not sum(map(len, lists)):
            return None
        corners = np.concatenate(lists)
        corners = corners[: len(corners) - len(corners) % stride].reshape(-1, stride)
        if primitive.tag == "triangles":
            faces = np.arange(len(corners) - len(corners) % 3).reshape(-1, 3)
        elif primitive.tag == "polylist":
            faces = fans(numbers_in(self._where, primitive.findtext("vcount") or "", int))
        else:
            faces = fans(np.array([len(one) // stride for one in lists], np.int64))
        if faces.max(initial=-1) >= len(corners):
            raise ModelError(f"{self._where}: its polygons have more corners than are listed; is the file cut off?")
        used, place = joined_corners([corners[:, offset] for offset, _ in inputs.values()])
        arrays: dict[str, Floats] = {}
        for (semantic, (_, table)), column in zip(inputs.items(), used, strict=True):
            if not len(column) or (column.min() >= 0 and column.max() < len(table)):
                arrays[semantic] = table[column]
            elif semantic == "POSITION":
                raise ModelError(f"{self._where}: a face names a vertex that does not exist; export the mesh again")
        normals = _columns(arrays.get("NORMAL"), 3)
        uv, colors = _columns(arrays.get("TEXCOORD"), 2), _columns(arrays.get("COLOR"), 3)
        return Piece(
            arrays["POSITION"][:, :3], place[faces], normals, uv, None if colors is None else color_bytes(colors)
        )

    def _inputs(self, primitive: Element) -> tuple[dict[str, tuple[int, Floats]], int]:
        """For each semantic, which of a corner's indices it has, and its table; and how many indices a corner has."""
        inputs: dict[str, tuple[int, Floats]] = {}
        stride = 0
        for one in primitive.findall("input"):
            offset, semantic = self._whole(one, "offset", 0), one.get("semantic", "")
            stride = max(stride, offset + 1)
            source = self._target(one.get("source", ""))
            if semantic == "VERTEX" and source is not None:
                for inner in source.findall("input"):
                    inputs.setdefault(inner.get("semantic", ""), (offset, self._source(inner.get("source", ""))))
            elif semantic in ("NORMAL", "TEXCOORD", "COLOR"):
                inputs.setdefault(semantic, (offset, self._source(one.get("source", ""))))
        return inputs, stride

    def _source(self, url: str) -> Floats:
        source = self._target(url)
        array = None if source is None else source.find("float_array")
        if source is None or array is None:
            raise ModelError(f"{self._where}: the numbers {url!r} are not in the file; export it again")
        accessor = source.find("technique_common/accessor")
        stride = 3 if accessor is None else self._whole(accessor, "stride", 1)
        numbers = numbers_in(self._where, array.text or "")
        return numbers[: len(numbers) - len(numbers) % stride].reshape(-1, stride)

    def _whole(self, element: Element, name: str, least: int) -> int:
        """The whole number in an attribute."""
        text = element.get(name, str(least))
        if not text.strip().isdecimal() or not least <= (number := int(text)) < _MOST_INDICES:
            raise ModelError(
                f'{self._where}: <{element.tag} {name}="{text:.60}"> must be a whole number from {least} to '
                f"{_MOST_INDICES:,}; export it again"
            )
        return number

    def _target(self, url: str) -> Element | None:
        return self._by_id.get(url.removeprefix("#"))

    def _pose(self, node: Element) -> Floats:
        pose = np.eye(4)
        for one in node:
            step = np.eye(4)
            if one.tag == "matrix":
                step = self._numbers(one, 16).reshape(4, 4)
            elif one.tag == "translate":
                step[:3, 3] = self._numbers(one, 3)
            elif one.tag == "scale":
                step[:3, :3] = np.diag(self._numbers(one, 3))
            elif one.tag == "rotate":
                x, y, z, degrees = self._numbers(one, 4)
                step[:3, :3] = _rotation(np.array([x, y, z]), np.radians(degrees))
            else:
                continue
            pose = pose @ step
        return pose

    def _numbers(self, element: Element, count: int) -> Floats:
        numbers = numbers_in(self._where, element.text or "")
        if len(numbers) != count:
            raise ModelError(f"{self._where}: <{element.tag}> has {len(numbers)} numbers, not {count}; export it again")
        return numbers


def _columns(table: Floats | None, count: int) -> Floats | None:
    """The first columns of a table, if it has so many."""
    return None if table is None or table.shape[1] < count else table[:, :count]


def _rotation(axis: Floats, angle: float) -> Floats:
    """Rodrigues' formula."""
    length = np.linalg.norm(axis)
    x, y, z = axis / (length or 1.0)
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    R: Floats = np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)
    return R
