"""Soft constraints of MJCF robots beside MuJoCo: inverse inertias, pairs, parameters of contacts, rows of joints."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from tests.oracles.contact_agreement import Beside

_RAGDOLL = """
<mujoco>
  <option timestep="0.004" impratio="3"/>
  <default>
    <joint armature="0.02" damping="0.1" solimplimit="0 0.99 0.01 0.3 2.5" solreflimit="0.01 0.9"/>
    <geom density="900" solimp="0.7 0.95 0.02 0.4 3"/>
    <default class="bits"><geom contype="2" conaffinity="1"/></default>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" friction="0.6 0.02 0.001" condim="3" margin="0.01"/>
    <body name="post" pos="1 0 0"><geom name="post" type="capsule" size="0.1 0.4"/></body>
    <body name="torso" pos="0 0 0.3">
      <joint type="free" armature="0.1" frictionloss="0.3"/>
      <geom name="torso" type="capsule" size="0.12 0.2" condim="4" solmix="3" gap="0.02"/>
      <geom name="head" size="0.15" pos="0 0 0.4" solref="-500 -20"/>
      <site name="tag"/>
      <body name="mark" pos="0.1 0.2 0.05"/>
      <body name="arm" pos="0.3 0 0.1" euler="10 20 30">
        <joint name="shoulder" type="ball" range="0 60" frictionloss="0.2" margin="0.1"/>
        <geom name="arm" type="capsule" fromto="0 0 0 0.4 0 0" size="0.06" priority="1" condim="6"/>
        <body name="hand" pos="0.45 0 0">
          <joint name="wrist" axis="0 1 0" range="-40 50" ref="10" margin="0.05"/>
          <joint name="reach" type="slide" axis="1 0 1" range="-0.05 0.1" frictionloss="1.5"
                 solreffriction="-300 -5" solimpfriction="0.3 0.8 0.1 0.5 2"/>
          <geom name="hand" class="bits" size="0.09" pos="0.02 0.03 0"/>
        </body>
      </body>
      <body name="leg" pos="0 0 -0.35">
        <joint name="hip" axis="1 0 0" range="-30 80"/>
        <geom name="thigh" type="capsule" fromto="0 0 0 0 0 -0.3" size="0.07"/>
        <body name="shin" pos="0 0 -0.35">
          <joint name="knee" axis="1 0 0" range="-100 0" solreflimit="-800 -30" solimplimit="0.5 2 0.02 0 1"/>
          <geom name="shin" type="capsule" fromto="0 0 0 0 0 -0.3" size="0.06"/>
          <body name="foot" pos="0 0 -0.32"><geom name="foot" type="sphere" size="0.08" friction="1.5"/></body>
        </body>
      </body>
    </body>
    <body name="ball" pos="0.2 0 0.2"><freejoint/><geom name="ball" size="0.2" condim="1"/></body>
  </worldbody>
  <contact>
    <exclude body1="shin" body2="ball"/>
    <pair geom1="ball" geom2="arm" condim="4" friction="0.4 0.7 0.01 0.001 0.002" solref="0.03 1.2" margin="0.02"/>
    <pair geom1="thigh" geom2="torso" gap="0.01"/>
    <pair geom1="post" geom2="floor"/>
  </contact>
  <equality>
    <joint joint1="hip" joint2="knee" polycoef="0.1 0.5 0.2 -0.1 0.05" solref="0.05 2" solimp="0.6 0.9 0.5 0.2 9"/>
    <joint name="held" joint1="wrist" polycoef="0.05 3 0 0 0"/>
    <joint joint1="knee" joint2="wrist" active="false"/>
  </equality>
  <tendon><fixed name="strap" armature="0.3">
    <joint joint="hip" coef="0.5"/><joint joint="knee" coef="-1"/>
  </fixed></tendon>
</mujoco>
"""
_FLAT = """
<mujoco>
  <option timestep="0.02" cone="elliptic" impratio="5"><flag {flags}/></option>
  <worldbody>
    <geom type="plane" size="5 5 1" margin="0.005" solref="0.5 -1"/>
    <geom name="wall" type="plane" size="5 5 1" pos="-1 0 0" zaxis="1 0 0" conaffinity="2"/>
    <body name="moved" mocap="true" pos="0 0 0.1">
      <geom size="0.2"/>
      <body name="on_it"><geom size="0.1" pos="0 0 0.3"/></body>
      <body name="swing" pos="0 0 0.4"><joint axis="1 0 0"/><geom size="0.15"/></body>
    </body>
    <body name="puck" pos="0.3 0.2 0.08">
      <joint name="x" type="slide" axis="1 0 0" range="-1 0.2" armature="2"/>
      <joint name="y" type="slide" axis="0 1 0" frictionloss="0.1"/>
      <geom size="0.1" mass="0.7" margin="0.02" gap="0.01" solmix="0"/>
    </body>
    <body name="cart" pos="-0.3 0 0.1">
      <joint name="rail" type="slide" axis="1 0 0"/>
      <geom type="box" size="0.1 0.1 0.05" solmix="0"/>
      <geom name="bare" size="0.12" contype="0" conaffinity="0" pos="0 0 0.1"/>
      <body name="pole" pos="0 0 0.1">
        <joint name="hinge" axis="0 1 0" frictionloss="0.4" solreffriction="0.01 1"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.6" size="0.05" contype="3" friction="0 0 0" adhesion="2"/>
      </body>
    </body>
    <body name="loose" pos="0 0.3 0.1"><freejoint/><geom size="0.2" condim="6" friction="0.8 0.1 0.2"/></body>
  </worldbody>
  <contact><pair geom1="bare" geom2="wall" condim="3" solreffriction="0.01 1" friction="0.5 0.6 0 0 0"/></contact>
</mujoco>
"""
_OVERRIDE = _FLAT.replace(
    "impratio",
    'o_margin="0.03" o_solref="0.04 0.8" o_solimp="0.5 0.8 0.1 0.3 4" o_friction="0.3 0.4 0.5 0.6 0.7" impratio',
)


_CAPSULE = '<geom type="capsule" size="0.3 0.2" mass="0.5"/>'


def _balls(seed: int, cone: str) -> str:
    """Balls that all overlap, with parameters of all kinds, those out of their ranges included."""
    r = random.Random(seed)
    bodies, pairs = [], []
    for k in range(12):
        solref = r.choice([(r.uniform(0.005, 0.1), r.uniform(0.2, 2.0)), (-r.uniform(50, 900), -r.uniform(1, 40))])
        width, midpoint = r.choice([-0.2, 0.0, 0.3, 0.9]), r.choice([-0.1, r.uniform(0.0, 1.0), 1.1])
        solimp = (r.uniform(-0.1, 0.95), r.uniform(0.3, 1.1), width, midpoint, r.uniform(0.5, 9.0))
        friction = [r.choice([0.0, r.uniform(0.0, 1.0)]) for _ in range(3)]
        bodies.append(
            f'''<body pos="{_text(r.uniform(-0.2, 0.2) for _ in range(3))}"><freejoint/>
            <geom name="g{k}" size="{r.uniform(0.3, 0.5):.3f}" condim="{r.choice([1, 3, 4, 6])}"
              priority="{r.choice([0, 0, 0, 1, 2])}" solmix="{r.choice([0, 0, 1, 2.5])}" solref="{_text(solref)}"
              solimp="{_text(solimp)}" friction="{_text(friction)}" margin="{r.uniform(0, 0.1):.3f}"
              gap="{r.choice([0, 0.05])}" adhesion="{r.choice([0, 0, 3])}"/>{_CAPSULE * (k % 3)}</body>'''
        )
    for k in range(8):
        a, b = sorted(r.sample(range(4), 2), reverse=k % 2 == 0)
        pairs.append(f'<pair geom1="g{a}" geom2="g{b}" condim="3" friction="0.{k + 1} 0.5 0 0 0" margin="0.0{k}"/>')
    worldbody = f"<worldbody>{''.join(bodies)}</worldbody><contact>{''.join(pairs)}</contact>"
    return f'<mujoco><option cone="{cone}" impratio="2"/>{worldbody}</mujoco>'


def _text(numbers: Iterable[float]) -> str:
    return " ".join(f"{x:.4f}" for x in numbers)


TEXTS = {
    "ragdoll": _RAGDOLL,
    "flat": _FLAT.format(flags=""),
    "parents too, time constants as given": _FLAT.format(flags='filterparent="disable" refsafe="disable"'),
    "override": _OVERRIDE.format(flags='override="enable"'),
}


@pytest.fixture(params=TEXTS, scope="module")
def beside(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Beside:
    return Beside(TEXTS[request.param], tmp_path_factory.mktemp("robot"))


def test_inverse_weights(beside: Beside) -> None:
    beside.assert_weights()


def test_pairs(beside: Beside) -> None:
    beside.assert_pairs()


def test_rows_at_random_states(beside: Beside) -> None:
    rng = np.random.default_rng(3)
    seen = set()
    counts: dict[str, int] = {}
    for _ in range(60):
        beside.randomise(rng)
        seen |= beside.assert_contacts()
        for name, count in beside.assert_joints().items():
            counts[name] = counts.get(name, 0) + count
    assert len(seen) > 5
    assert counts["limits"] > 20
    assert counts["frictions"] > 100
    assert bool(counts["couplings"]) == bool(beside.m.neq)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("seed", range(3))
def test_parameters_of_all_kinds(cone: str, seed: int, tmp_path: Path) -> None:
    beside = Beside(_balls(seed, cone), tmp_path)
    beside.randomise(np.random.default_rng(seed))
    assert len(beside.assert_contacts()) > 30
