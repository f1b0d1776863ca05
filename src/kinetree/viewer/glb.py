"""Surfaces as binary glTF, the form in which a browser takes colours per vertex, normals and textures.

Source: Khronos Group, glTF 2.0 specification (2021), sections 3.6-3.9 and 4.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance import Surface
from kinetree.appearance.srgb import linear_of

__all__ = ["binary_gltf"]

_FLOAT, _U16, _U32 = 5126, 5123, 5125
_VERTICES, _INDICES = 34962, 34963
_ROUGHNESS = 0.65


def binary_gltf(surfaces: Iterable[Surface]) -> bytes:
    """All surfaces as one file (.glb), with a material for each."""
    writer = _Writer()
    for surface in surfaces:
        writer.add(surface)
    return writer.file()


class _Writer:
    def __init__(self) -> None:
        self.body = bytearray()
        self.views: list[dict[str, int]] = []
        self.accessors: list[dict[str, Any]] = []
        self.primitives: list[dict[str, Any]] = []
        self.materials: list[dict[str, Any]] = []
        self.images: list[dict[str, Any]] = []

    def add(self, surface: Surface) -> None:
        attributes = {
            "POSITION": self._vertices(surface.vertices, "VEC3"),
            "NORMAL": self._vertices(surface.normals, "VEC3"),
        }
        physical: dict[str, Any] = {"metallicFactor": 0.0, "roughnessFactor": _ROUGHNESS}
        clear = bool((surface.colors[:, 3] < 255).any())
        if surface.texture is not None and surface.uv is not None:
            upper = np.column_stack([surface.uv[:, 0], 1.0 - surface.uv[:, 1]])  # from the upper left
            attributes["TEXCOORD_0"] = self._vertices(upper.astype(np.float32), "VEC2")
            physical["baseColorTexture"] = {"index": self._image(surface.texture)}
            clear = clear or bool((surface.texture[..., 3] < 255).any())
        elif (surface.colors == surface.colors[:1]).all():
            physical["baseColorFactor"] = _linear(surface.colors[:1])[0].tolist()
        else:
            colors = np.rint(_linear(surface.colors) * 65535.0).astype(np.uint16)
            view = self._view(colors.tobytes(), _VERTICES)
            self.accessors.append(
                {"bufferView": view, "componentType": _U16, "normalized": True, "count": len(colors), "type": "VEC4"}
            )
            attributes["COLOR_0"] = len(self.accessors) - 1
        material: dict[str, Any] = {"pbrMetallicRoughness": physical, "doubleSided": True}
        if clear:
            material["alphaMode"] = "BLEND"
        self.materials.append(material)
        self.primitives.append(
            {"attributes": attributes, "indices": self._faces(surface.faces), "material": len(self.materials) - 1}
        )

    def _vertices(self, x: NDArray[np.float32], kind: str) -> int:
        accessor: dict[str, Any] = {
            "bufferView": self._view(np.ascontiguousarray(x, dtype="<f4").tobytes(), _VERTICES),
            "componentType": _FLOAT, "count": len(x), "type": kind,
        }  # fmt: skip
        if kind == "VEC3":
            accessor |= {"min": x.min(axis=0).tolist(), "max": x.max(axis=0).tolist()}
        self.accessors.append(accessor)
        return len(self.accessors) - 1

    def _faces(self, faces: NDArray[np.int32]) -> int:
        view = self._view(faces.astype("<u4").tobytes(), _INDICES)
        self.accessors.append({"bufferView": view, "componentType": _U32, "count": faces.size, "type": "SCALAR"})
        return len(self.accessors) - 1

    def _image(self, texture: NDArray[np.uint8]) -> int:
        from PIL import Image

        with io.BytesIO() as file:
            Image.fromarray(texture).save(file, "PNG", compress_level=1)
            view = self._view(file.getvalue())
        self.images.append({"bufferView": view, "mimeType": "image/png"})
        return len(self.images) - 1

    def _view(self, content: bytes, target: int | None = None) -> int:
        self.body += bytes(-len(self.body) % 4)
        view = {"buffer": 0, "byteOffset": len(self.body), "byteLength": len(content)}
        self.views.append(view if target is None else {**view, "target": target})
        self.body += content
        return len(self.views) - 1

    def file(self) -> bytes:
        self.body += bytes(-len(self.body) % 4)
        document: dict[str, Any] = {
            "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": self.primitives}], "materials": self.materials, "accessors": self.accessors,
            "bufferViews": self.views, "buffers": [{"byteLength": len(self.body)}],
        }  # fmt: skip
        if self.images:
            document |= {"images": self.images, "textures": [{"source": k} for k in range(len(self.images))]}
        text = json.dumps(document, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<I4s", len(text), b"JSON") + text
        chunks += struct.pack("<I4s", len(self.body), b"BIN\0") + bytes(self.body)
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def _linear(colors: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Amounts of light and opacities, from 0 to 1, as the format has them."""
    return np.column_stack([linear_of(colors[:, :3] / 255.0), colors[:, 3] / 255.0])
