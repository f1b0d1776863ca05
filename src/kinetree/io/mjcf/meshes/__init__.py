"""Meshes and solids with the meaning that MuJoCo's compiler gives them."""

from kinetree.io.mjcf.meshes.builtins import builtin_mesh
from kinetree.io.mjcf.meshes.compiled import CompiledMesh, compile_mesh
from kinetree.io.mjcf.meshes.files import read_mesh
from kinetree.io.mjcf.meshes.fitting import fitted
from kinetree.io.mjcf.meshes.hull_faces import hull_faces
from kinetree.io.mjcf.meshes.hulls import convex_hull, fewer_corners
from kinetree.io.mjcf.meshes.integrals import InertiaMode
from kinetree.io.mjcf.meshes.primitives import primitive
from kinetree.io.mjcf.meshes.principal import principal_axes, rotation
from kinetree.io.mjcf.meshes.triangles import Triangles, inline_mesh

__all__ = [
    "CompiledMesh",
    "InertiaMode",
    "Triangles",
    "builtin_mesh",
    "compile_mesh",
    "convex_hull",
    "fewer_corners",
    "fitted",
    "hull_faces",
    "inline_mesh",
    "primitive",
    "principal_axes",
    "read_mesh",
    "rotation",
]
