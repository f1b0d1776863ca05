"""What MuJoCo makes of a mesh, and what kinetree makes of it, as numbers that do not depend on the choice of axes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from kinetree.solids.meshes import CompiledMesh, compile_mesh, inline_mesh, read_mesh
from kinetree.solids.meshes.principal import rotation

Array = NDArray[np.float64]
DENSITY = 1e12
"""Large enough to keep small meshes above the smallest mass and inertia that MuJoCo accepts."""
INERTIAL = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
UNSEEN = 'contype="0" conaffinity="0"'


class Body(NamedTuple):
    """A body that is one geom: its mass for a density of one, its centre of mass, its inertia about that."""

    mass: float
    com: Array
    inertia: Array

    def differs_from(self, other: Body) -> float:
        """The largest difference, relative to the mass, the size and the inertia of the other."""
        spread = max(float(np.sqrt(np.trace(other.inertia) / other.mass)), float(np.abs(other.com).max()))
        return max(
            abs(self.mass / other.mass - 1.0),
            float(np.abs(self.com - other.com).max()) / spread,
            float(np.abs(self.inertia - other.inertia).max() / np.trace(other.inertia)),
        )


def mujocos(attributes: str, files: dict[str, bytes] | None = None, geom: str = UNSEEN, compiler: str = "") -> Body:
    """MuJoCo's body of one geom of the mesh with these attributes."""
    return of_body(load(attributes, files, geom, compiler))


def load(
    attributes: str, files: dict[str, bytes] | None = None, geom: str = UNSEEN, compiler: str = "", inertial: str = ""
) -> Any:
    """MuJoCo's model of one body with one geom of the mesh with these attributes."""
    mesh = 'type="mesh" mesh="m"' if attributes and " type=" not in f" {geom}" else 'mesh="m"' if attributes else ""
    asset = f'<asset><mesh name="m" {attributes}/></asset>' if attributes else ""
    xml = (
        f"<mujoco><compiler {compiler}/>{asset}<worldbody><body><freejoint/>{inertial}"
        f'<geom {mesh} density="{DENSITY}" {geom}/></body></worldbody></mujoco>'
    )
    return mujoco.MjModel.from_xml_string(xml, files or {})


def of_body(model: Any) -> Body:
    """The only body of a model, for a density of one."""
    R = rotation(model.body_iquat[1])
    inertia = R @ np.diag(model.body_inertia[1]) @ R.T
    return Body(model.body_mass[1] / DENSITY, model.body_ipos[1].copy(), inertia / DENSITY)


def body(mesh: CompiledMesh) -> Body:
    """kinetree's body of one geom of a mesh."""
    R = rotation(mesh.quaternion)
    return Body(mesh.amount, mesh.position, R @ np.diag(mesh.amount * mesh.moments) @ R.T)


def from_file(path: Path, **options: Any) -> tuple[Body, Body]:
    """(kinetree's, MuJoCo's) body of a mesh file; the options are those of `compile_mesh`."""
    file = {"m" + path.suffix: path.read_bytes()}
    attributes = f'file="m{path.suffix}" {written(options)}'
    return body(compile_mesh(path, read_mesh(path), **options)), mujocos(attributes, file)


def inline(vertices: Array, faces: NDArray[np.int64] | None, **options: Any) -> tuple[Body, Body]:
    """(kinetree's, MuJoCo's) body of a mesh in attributes."""
    flat = [] if faces is None else faces.reshape(-1).tolist()
    mesh = inline_mesh("mesh", vertices.reshape(-1).tolist(), flat)
    attributes = f'vertex="{numbers(vertices.reshape(-1))}" {written(options)}'
    if flat:
        attributes += f' face="{" ".join(map(str, flat))}"'
    return body(compile_mesh("mesh", mesh, **options)), mujocos(attributes)


def written(options: dict[str, Any]) -> str:
    """Options of `compile_mesh` as attributes."""
    return " ".join(f'{k}="{v if isinstance(v, str | int) else numbers(v)}"' for k, v in options.items())


def numbers(values: Any) -> str:
    return " ".join(repr(float(x)) for x in values)
