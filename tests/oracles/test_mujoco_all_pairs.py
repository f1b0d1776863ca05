"""No pair of shapes that touch is left out, whichever pairs are passed over as idle: every pair is tried by itself."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree import collision
from kinetree.compiler.reference import on_numbers
from kinetree.functions.contact_forces import CONTACT_FORCES
from kinetree.spatial import Mat3, Transform, Vec3

KINDS = {
    "sphere": 'type="sphere" size="0.1"',
    "capsule": 'type="capsule" size="0.06 0.09"',
    "box": 'type="box" size="0.1 0.07 0.08"',
    "small box": 'type="box" size="0.03 0.04 0.05"',
    "cylinder": 'type="cylinder" size="0.08 0.06"',
    "ellipsoid": 'type="ellipsoid" size="0.1 0.07 0.05"',
    "wedge": 'type="mesh" mesh="wedge"',
}
MAKERS: dict[str, Any] = {
    "plane": lambda _: collision.Plane(),
    "sphere": lambda size: collision.Sphere(size[0]),
    "capsule": lambda size: collision.Capsule(*size[:2]),
    "box": lambda size: collision.Box(*size),
    "cylinder": lambda size: collision.Cylinder(*size[:2]),
    "ellipsoid": lambda size: collision.Ellipsoid(*size),
}
STATES = 4
CLEAR = 1e-6


def scene(rng: np.random.Generator, count: int) -> str:
    """Free bodies with a shape each, and a floor."""
    free = "".join(
        f'<body name="b{k}"><freejoint/><geom name="g{k}" {KINDS[rng.choice([*KINDS])]}/></body>' for k in range(count)
    )
    return f"""<mujoco><asset><mesh name="wedge" vertex="0 0 0  .15 0 0  0 .15 0  0 0 .15  .1 .1 .1"/></asset>
  <worldbody><geom name="floor" type="plane" size="1 1 1"/>{free}</worldbody></mujoco>"""


def placements(rng: np.random.Generator, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two heaps far from each other, as q in MuJoCo's order and in ours."""
    theirs = np.zeros((STATES, count, 7))
    theirs[..., :3] = rng.uniform(-1.0, 1.0, (STATES, count, 3)) * 0.1 * np.cbrt(count)
    theirs[..., 0] += rng.choice([0.0, 5.0], (STATES, count))
    theirs[..., 2] += 0.1 * np.cbrt(count)
    theirs[..., 3:] = rng.normal(size=(STATES, count, 4))
    theirs[..., 3:] /= np.linalg.norm(theirs[..., 3:], axis=-1, keepdims=True)
    return theirs.reshape(STATES, -1), theirs[..., [0, 1, 2, 4, 5, 6, 3]].reshape(STATES, -1)


def shape(model: Any, geom: int) -> Any:
    kind = mujoco.mjtGeom(model.geom_type[geom]).name.removeprefix("mjGEOM_").lower()
    if kind == "mesh":
        mesh = model.geom_dataid[geom]
        start = model.mesh_vertadr[mesh]
        vertices = model.mesh_vert[start : start + model.mesh_vertnum[mesh]].astype(float)
        return collision.Hull(tuple(map(tuple, vertices.tolist())))
    return MAKERS[kind](model.geom_size[geom].tolist())


def placed(data: Any, geom: int) -> Transform:
    columns = data.geom_xmat[geom].reshape(3, 3).T
    return Transform(Mat3(*(Vec3(*row) for row in columns.tolist())), Vec3(*data.geom_xpos[geom].tolist()))


@pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")  # of many pairs
@pytest.mark.parametrize(
    ("count", "compiled"),
    [(2, True), (3, True), (8, False), (20, False), pytest.param(40, False, marks=pytest.mark.deep)],
)
def test_every_pair_that_touches_is_among_the_contacts(count: int, compiled: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(count)
    (path := tmp_path / "scene.xml").write_text(scene(rng, count))
    model = mujoco.MjModel.from_xml_path(str(path))
    data, robot = mujoco.MjData(model), kt.load(path)
    theirs, q = placements(rng, count)
    still = np.zeros((STATES, robot.nv))
    if compiled:
        forces = kt.contact.contact_forces(robot, q, still, still, contact=True)
        distances, pushes = forces.distances, forces.forces
    else:
        found = [on_numbers(CONTACT_FORCES, robot, [x, *still[:2].tolist()], contact=True) for x in q.tolist()]
        rows = np.reshape(found, (STATES, -1, 13))
        distances, pushes = rows[..., 0], rows[..., 7:10]
    pairs = kt.contact.contact_pairs(robot, contact=True)
    names = {frozenset((pair.first, pair.second)): pair.slots for pair in pairs}
    geoms = [model.geom(k).name for k in range(model.ngeom)]
    touching = 0
    for k in range(STATES):
        data.qpos[:] = theirs[k]
        mujoco.mj_kinematics(model, data)
        for a, b in combinations(range(model.ngeom), 2):
            points = collision.contacts(shape(model, a), placed(data, a), shape(model, b), placed(data, b))
            expected = min(float(point.distance) for point in points)  # type: ignore[arg-type]
            slots = names[frozenset((geoms[a], geoms[b]))]
            distance = distances[k, slots].min()
            if expected < 0.0 or distance < 0.0:
                assert distance == pytest.approx(expected, abs=CLEAR)
                assert min(distance, expected) > -CLEAR or pushes[k, slots].any()
                touching += 1
    assert touching > STATES * count / 4
