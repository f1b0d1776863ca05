"""Chains of many joints: time per body, compile time, memory; and MuJoCo for comparison on the chain of 1,000.

    python benchmarks/chains.py [--joints 10 100 1000 10000]

Each joint turns about an axis of its own; all numbers are random. Each chain runs in a process of its own, with the
code cache off.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

import kinetree as kt
from kinetree.spatial import Inertia, Sym3, Transform, Vec3
from kinetree.spatial.rotations import from_rpy
from timing import medians


def chain(joints: int) -> kt.Model:
    """A chain in general position."""
    rng = np.random.default_rng(0)
    builder = kt.ModelBuilder(f"chain of {joints}")
    builder.add_body("link 0")
    for k in range(1, joints + 1):
        com, r, axis = rng.uniform(-0.1, 0.1, 3), rng.uniform(-0.2, 0.2, 3), rng.normal(size=3)
        rpy, mass, spread = rng.uniform(-3.0, 3.0, 3), float(rng.uniform(0.5, 2.0)), rng.uniform(0.010, 0.011, 3)
        inertia = Inertia.from_com(mass, Vec3(*com.tolist()), Sym3(*spread.tolist(), 0.0, 0.0, 0.0))
        placement = Transform(from_rpy(*rpy.tolist()).T, Vec3(*r.tolist()))
        builder.add_body(f"link {k}", inertia)
        builder.add_joint(f"joint {k}", kt.Revolute(axis.tolist()), f"link {k - 1}", f"link {k}", placement)
    return builder.build()


def mujoco_chain(joints: int):  # type: ignore[no-untyped-def]
    """The same number of bodies and hinges in MuJoCo; its speed does not depend on the numbers."""
    import mujoco

    spec = mujoco.MjSpec()
    body = spec.worldbody
    for _ in range(joints):
        body = body.add_body(pos=[0.0, 0.1, 0.1])
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0.6, 0.0, 0.8])
        body.mass, body.inertia, body.explicitinertial = 1.0, [0.01, 0.01, 0.01], True
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    model = spec.compile()
    return model, mujoco.MjData(model)


def measure(joints: int) -> None:
    robot = chain(joints)
    start = time.perf_counter()
    aba = kt.compile(robot, kt.aba)
    compiling = time.perf_counter() - start
    rng = np.random.default_rng(1)
    q, v, tau = rng.uniform(-1.0, 1.0, joints), 0.1 * rng.normal(size=joints), rng.normal(size=joints)
    out = np.empty(joints)
    calls: dict[str, Callable[[], object]] = {"ours": lambda: aba(q, v, tau, out=out)}
    seconds = medians(calls, max(10, 50_000 // joints))["ours"]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    line = (
        f"{joints:6} joints: compiled in {compiling:5.2f} s, {seconds / joints * 1e9:6.1f} ns a body and call, "
        f"{memory:5.2f} GB"
    )
    if joints == 1000:
        import mujoco

        model, data = mujoco_chain(joints)
        data.qpos[:], data.qvel[:] = q, v
        seconds, theirs = medians({**calls, "theirs": lambda: mujoco.mj_forward(model, data)}, 40).values()
        line += f"; MuJoCo's mj_forward {theirs * 1e6:.0f} µs, ours {seconds * 1e6:.0f}: {theirs / seconds:.0f} times"
        line += " (goal 40)"
    print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joints", type=int, nargs="+", default=[10, 100, 1000, 10_000])
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        measure(options.one)
        return
    for joints in options.joints:
        environment = {**os.environ, "KINETREE_CACHE": "off"}
        subprocess.run([sys.executable, __file__, "--one", str(joints)], check=True, env=environment)


if __name__ == "__main__":
    main()
