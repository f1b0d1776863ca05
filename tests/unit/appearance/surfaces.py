"""What tests ask about surfaces."""

from __future__ import annotations

import numpy as np

from kinetree.appearance import Surface
from kinetree.appearance.normals import face_normals
from kinetree.solids.meshes import welded


def volume(surface: Surface) -> float:
    """Inside the faces, m³; negative if they face inward."""
    a, b, c = (surface.vertices[surface.faces[:, k]].astype(np.float64) for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def edges_are_shared(surface: Surface) -> bool:
    """Whether each edge belongs to two faces, in opposite directions."""
    _, place = welded(np.round(surface.vertices, 5))
    faces = place[surface.faces]
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    forward = set(map(tuple, edges.tolist()))
    return len(forward) == len(edges) and all((b, a) in forward for a, b in forward)


def normal_errors(surface: Surface) -> np.ndarray:
    """How far the normals of vertices are from those of their faces: 1 less the cosine, the mean of three corners."""
    normals = face_normals(surface.vertices, surface.faces)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    errors: np.ndarray = 1.0 - np.einsum("ij,ikj->i", normals, surface.normals[surface.faces].astype(np.float64)) / 3.0
    return errors
