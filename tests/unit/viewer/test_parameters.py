"""Pages of robots some of whose bodies are where parameters have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.viewer.bodies import MovingBodies

pytest.importorskip("viser")

LIFT = """<mujoco><worldbody>
  <body name="platform" mocap="true"><geom type="box" size="0.2 0.2 0.02"/></body>
  <body name="ball" pos="0 0 0.07"><freejoint/><geom size="0.05" mass="0.1"/></body>
</worldbody></mujoco>"""
UP: Any = {"body.platform.placement": [0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0]}


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> kt.Model:
    path = tmp_path_factory.mktemp("lift") / "lift.xml"
    path.write_text(LIFT)
    return kt.load(path)


def test_bodies_are_where_parameters_have_them(robot: kt.Model) -> None:
    bodies = MovingBodies(robot, {name: np.array(x) for name, x in UP.items()})
    piece, placement = bodies.place_on("platform")
    assert piece == 0
    np.testing.assert_allclose(placement, kt.frame_placement(robot, robot.neutral(), "platform", parameters=UP))
    np.testing.assert_allclose(bodies.place_on("ball")[1], MovingBodies(robot).place_on("ball")[1], atol=1e-12)


def test_pages_and_files_take_parameters(robot: kt.Model, tmp_path: Path) -> None:
    motion = kt.simulate(robot, duration=0.02, dt=0.01, parameters=UP, record=[])
    for shown in (robot, motion):
        with kt.view(shown, port=0, parameters=UP) as viewer:
            assert viewer.stages[0].high[2] == pytest.approx(0.32, abs=1e-6)
    assert motion.save_html(tmp_path / "a", parameters=UP).stat().st_size > 0
    two = {name: [x, x] for name, x in UP.items()}
    with pytest.raises(
        kt.errors.ShapeError, match=r"view: body.platform.placement has shape \(2, 7\), and a page shows one"
    ):
        kt.view(robot, parameters=two)
