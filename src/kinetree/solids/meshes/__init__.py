"""Meshes: their files, their geometry, and the meaning that MuJoCo's compiler gives them."""

from kinetree.solids.meshes.builtins import builtin_mesh
from kinetree.solids.meshes.compiled import CompiledMesh, compile_mesh, fitted
from kinetree.solids.meshes.files import FORMATS, read_mesh, read_msh
from kinetree.solids.meshes.hulls import convex_hull, convex_parts, fewer_corners, hull_faces
from kinetree.solids.meshes.integrals import InertiaMode
from kinetree.solids.meshes.numbers import numbers_in
from kinetree.solids.meshes.obj import ObjFile
from kinetree.solids.meshes.principal import principal_axes, rotation
from kinetree.solids.meshes.stl import mixed, stl_corners, welded
from kinetree.solids.meshes.triangles import Triangles, inline_mesh

__all__ = [
    "FORMATS",
    "CompiledMesh",
    "InertiaMode",
    "ObjFile",
    "Triangles",
    "builtin_mesh",
    "compile_mesh",
    "convex_hull",
    "convex_parts",
    "fewer_corners",
    "fitted",
    "hull_faces",
    "inline_mesh",
    "mixed",
    "numbers_in",
    "principal_axes",
    "read_mesh",
    "read_msh",
    "rotation",
    "stl_corners",
    "welded",
]
