"""MuJoCo's contacts between two geoms, placed one configuration after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree import collision
from kinetree.spatial import Mat3, Transform, Vec3

__all__ = ["Configurations", "Floats", "TwoGeoms", "configurations", "in_columns", "ours"]

Floats = NDArray[np.float64]
SIZES = {"plane": 0, "sphere": 1, "capsule": 2, "ellipsoid": 3, "cylinder": 2, "box": 3, "hull": 0}
MAKERS: dict[str, Any] = {
    "plane": collision.Plane,
    "sphere": collision.Sphere,
    "capsule": collision.Capsule,
    "ellipsoid": collision.Ellipsoid,
    "cylinder": collision.Cylinder,
    "box": collision.Box,
}


class Configurations:
    """Sizes and placements of many pairs, and their margins."""

    def __init__(self, kinds: tuple[str, str], count: int) -> None:
        self.kinds = kinds
        self.sizes = np.zeros((2, count, 3))
        self.positions = np.zeros((2, count, 3))
        self.rotations = np.zeros((2, count, 3, 3))
        """Columns are the shape's axes."""
        self.margin = np.zeros(count)

    def __len__(self) -> int:
        return len(self.margin)

    def shape(self, k: int) -> Any:
        """The shape of each configuration, its lengths as arrays."""
        return MAKERS[self.kinds[k]](*(self.sizes[k, :, i].copy() for i in range(SIZES[self.kinds[k]])))

    def between_cores(self, n: int, distance: float) -> float:
        """The distance between the centres of round shapes or the axes of capsules, which gives the normal its digits;
        1 for other shapes."""
        if not all(kind in ("sphere", "capsule") for kind in self.kinds):
            return 1.0
        return abs(distance + float(self.sizes[:, n, 0].sum()))

    def placement(self, k: int) -> Transform:
        R, r = self.rotations[k], self.positions[k]
        return Transform(Mat3(*(Vec3(*R[:, :, i].T.copy()) for i in range(3))), Vec3(*r.T.copy()))


def configurations(kinds: tuple[str, str], count: int, seed: int = 0) -> Configurations:
    """Random ones near contact: apart, touching, deep.

    Some have axes in common or along the world's, some lengths and positions on a grid, so that ties, parallel axes and
    coincident centres occur.
    """
    rng = np.random.default_rng(seed)
    found = Configurations(kinds, count)
    turned = rng.random(count)
    near = (turned > 0.2) & (turned < 0.25)  # nearly parallel, where a tie would be decided by the last bit
    on_grid = (rng.random(count) < 0.3) & ~near
    sizes = rng.uniform(0.05, 0.4, (2, count, 3))
    found.sizes[:] = np.where(on_grid[None, :, None], np.round(sizes * 10 + 0.5) / 10, sizes)
    for k in range(2):
        found.rotations[k] = _rotations(rng, count)
    aligned = _aligned(rng, count)
    found.rotations[0][turned < 0.3] = aligned[turned < 0.3]
    same = turned < 0.2
    found.rotations[1][same] = found.rotations[0][same] @ _aligned(rng, count)[same]
    tilted = _rotations(rng, count, 1e-6)
    found.rotations[1][near] = found.rotations[0][near] @ tilted[near]
    reach = rng.uniform(0.0, 1.2, (count, 1)) * (rng.random((count, 1)) > 0.05)
    directions = rng.normal(size=(count, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    offset = reach * directions
    offset = np.where(on_grid[:, None], np.round(offset * 10) / 10, offset)
    base = np.where(on_grid[:, None], 0.0, rng.normal(size=(count, 3)))
    found.positions[0], found.positions[1] = base, base + offset
    found.margin[:] = rng.choice([0.0012, 0.0512, 0.4987], count)  # not on the grid
    return found


def _aligned(rng: np.random.Generator, count: int) -> Floats:
    """Rotations that only rename axes."""
    found = np.zeros((count, 3, 3))
    order = np.argsort(rng.random((count, 3)), axis=1)
    signs = rng.choice([-1.0, 1.0], (count, 3))
    for i in range(3):
        found[np.arange(count), i, order[:, i]] = signs[:, i]
    found[:, :, 2] *= np.linalg.det(found)[:, None]
    return found


def _rotations(rng: np.random.Generator, count: int, angle: float | None = None) -> Floats:
    """Random rotations, or small ones."""
    q = rng.normal(size=(count, 4))
    if angle is not None:
        q[:, 1:] *= angle
        q[:, 0] = 1.0
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    w, x, y, z = q.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


class TwoGeoms:
    """A model with two geoms, whose sizes and placements are written into it."""

    def __init__(self, kinds: tuple[str, str]) -> None:
        import mujoco

        self._mujoco: Any = mujoco
        bodies = "".join(_geom(name, kind) for name, kind in zip("ab", kinds, strict=True))
        self.model = mujoco.MjModel.from_xml_string(
            f"<mujoco>{_assets()}<worldbody>{bodies}</worldbody>"
            '<contact><pair geom1="a" geom2="b"/></contact>'
            '<option ccd_tolerance="1e-12" ccd_iterations="200"/></mujoco>'
        )
        self.data = mujoco.MjData(self.model)
        self.model.geom_rbound[:] = [0.0 if kind == "plane" else 100.0 for kind in kinds]
        names = [mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_GEOM, n) for n in "ab"]
        self.ids: tuple[int, int] = (names[0], names[1])

    def shape(self, given: Configurations, k: int) -> Any:
        """The shape of each configuration; a hull has the vertices of MuJoCo's mesh, which is moved to its centre."""
        if given.kinds[k] != "hull":
            return given.shape(k)
        mesh = self.model.geom_dataid[self.ids[k]]
        first = self.model.mesh_vertadr[mesh]
        vertices = self.model.mesh_vert[first : first + self.model.mesh_vertnum[mesh]]
        return collision.Hull(tuple((float(x), float(y), float(z)) for x, y, z in vertices))

    def place(self, given: Configurations, n: int) -> None:
        for k, geom in enumerate(self.ids):
            if given.kinds[k] not in ("plane", "hull"):
                self.model.geom_size[geom] = given.sizes[k, n]
            self.data.geom_xpos[geom] = given.positions[k, n]
            self.data.geom_xmat[geom] = given.rotations[k, n].ravel()
        self.model.pair_margin[0] = given.margin[n]

    def contacts(self, given: Configurations, n: int) -> list[tuple[float, Floats, Floats]]:
        """(distance, position, frame) of each contact in MuJoCo's order; rows of the frame are its axes."""
        self.place(given, n)
        self._mujoco.mj_collision(self.model, self.data)
        return [(c.dist, c.pos.copy(), c.frame.reshape(3, 3).copy()) for c in self.data.contact]

    def distance(self, given: Configurations, n: int, most: float = 100.0) -> tuple[float, Floats]:
        """The distance, and the two nearest points."""
        self.place(given, n)
        ends = np.zeros(6)
        return self._mujoco.mj_geomDistance(self.model, self.data, *self.ids, most, ends), ends.reshape(2, 3)


def _geom(name: str, kind: str) -> str:
    if kind == "plane":
        return f'<geom name="{name}" type="plane" size="1 1 1"/>'
    form = f'type="mesh" mesh="{name}"' if kind == "hull" else f'type="{kind}" size="1 1 1"'
    return f'<body><freejoint/><geom name="{name}" {form}/></body>'


def _assets() -> str:
    """Two polyhedra with 24 corners each."""
    points = np.random.default_rng(7).normal(size=(2, 24, 3))
    points *= np.array([0.25, 0.2, 0.3]) / np.linalg.norm(points, axis=2, keepdims=True)
    meshes = (
        f'<mesh name="{name}" vertex="{" ".join(map(str, x.ravel()))}"/>' for name, x in zip("ab", points, strict=True)
    )
    return f"<asset>{''.join(meshes)}</asset>"


def in_columns(components: Any, count: int) -> Floats:
    """(count, 3) from the components of a vector."""
    return np.stack([np.broadcast_to(np.asarray(x, dtype=np.float64), (count,)) for x in components], axis=1)


def ours(given: Configurations) -> tuple[Floats, Floats, Floats]:
    """Distances (count, slots), positions (…, 3) and frames (…, 3, 3) by `kinetree.collision`."""
    points = collision.contacts(given.shape(0), given.placement(0), given.shape(1), given.placement(1), given.margin)
    count = len(given)

    def column(x: Any) -> Floats:
        return np.broadcast_to(np.asarray(x, dtype=np.float64), (count,))

    distances = np.stack([column(p.distance) for p in points], axis=1)
    positions = np.stack([_vectors(p.position, column) for p in points], axis=1)
    normals = np.stack([_vectors(p.normal, column) for p in points], axis=1)
    tangents = np.stack([_vectors(p.tangent, column) for p in points], axis=1)
    return distances, positions, np.stack([normals, tangents, np.cross(normals, tangents)], axis=2)


def _vectors(v: Vec3, column: Any) -> Floats:
    return np.stack([column(x) for x in v.components()], axis=1)
