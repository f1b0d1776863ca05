"""The other libraries that `kinetree bench` measures, if installed: the same functions on the same robot.

Each provides calls without arguments, for one sample and where possible for a batch, on one thread.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.comparison.source import format_of, without_shapes
from kinetree.layouts import Layout
from kinetree.model import Model
from kinetree.records import record

__all__ = ["Peer", "Samples", "peers"]

Call = Callable[[], object]
MOST_DEGREES_OF_FREEDOM = 1000
_MUJOCO = {"fusestatic": "true", "balanceinertia": "true", "boundmass": "1e-6", "boundinertia": "1e-9"}
"""Settings with which MuJoCo reads almost every file."""
FUNCTIONS = ("aba", "rnea", "crba", "frame_jacobian", "frame_placement")


@record(frozen=True, slots=True)
class Samples:
    """N random states, (N, n) each."""

    q: NDArray[np.float64]
    v: NDArray[np.float64]
    tau: NDArray[np.float64]
    frame: str

    def in_layout_of(self, robot: Model, library: str) -> Samples:
        """The same states as the library has them."""
        layout = Layout(robot, library)
        v, tau = layout.v_to(self.q, self.v), layout.tau_to(self.q, self.tau)
        return Samples(layout.q_to(self.q), v, tau, self.frame)


@record(frozen=True, slots=True)
class Peer:
    """Another library, with the robot loaded."""

    name: str
    single: dict[str, Call] = field(default_factory=dict)
    batch: dict[str, Call] = field(default_factory=dict)


def peers(file: Path, robot: Model, samples: Samples) -> tuple[list[Peer], list[str]]:
    """The peers that are installed and can read the robot's file, and a sentence for each that cannot take part."""
    if samples.v.shape[1] > MOST_DEGREES_OF_FREEDOM:
        return [], [f"peers take part up to {MOST_DEGREES_OF_FREEDOM} degrees of freedom: some crash on longer chains"]
    format = format_of(file)
    makers: tuple[tuple[str, str, Callable[..., Peer], tuple[str, ...]], ...] = (
        ("pinocchio", "pin", _pinocchio, ("URDF",)),
        ("mujoco", "mujoco", _mujoco, ("URDF", "MJCF")),
    )
    libraries: list[Peer] = []
    absent: list[str] = []
    for module, package, make, formats in makers:
        if format not in formats:
            absent.append(f"{module} is measured with {' and '.join(formats)} files, so it takes no part")
            continue
        try:
            library = importlib.import_module(module)
        except ImportError:
            absent.append(f"{module} is not installed (pip install {package})")
            continue
        try:
            libraries.append(make(library, file, robot.floating_base, samples.in_layout_of(robot, module)))
        except Exception as error:  # other libraries may raise anything
            reason = str(error).strip().partition("\n")[0]
            absent.append(f"{module} cannot take this robot: {reason or type(error).__name__}")
    return libraries, absent


def _same_size(theirs: tuple[int, int], samples: Samples) -> None:
    ours = samples.q.shape[1], samples.v.shape[1]
    if theirs != ours:
        raise ValueError(f"it makes nq, nv = {theirs} of the file where {ours} were expected")


def _pinocchio(pin: Any, file: Path, floating_base: bool, samples: Samples) -> Peer:
    model = pin.buildModelFromUrdf(str(file), *([pin.JointModelFreeFlyer()] if floating_base else []))
    _same_size((model.nq, model.nv), samples)
    data = model.createData()
    q0, v0, tau0 = (np.array(x[0]) for x in (samples.q, samples.v, samples.tau))
    frame = model.getFrameId(samples.frame)
    peer = Peer("pinocchio")
    peer.single.update(
        aba=lambda: pin.aba(model, data, q0, v0, tau0),
        rnea=lambda: pin.rnea(model, data, q0, v0, tau0),
        crba=lambda: pin.crba(model, data, q0),
        frame_jacobian=lambda: pin.computeFrameJacobian(model, data, q0, frame),
        frame_placement=lambda: pin.framesForwardKinematics(model, data, q0),
    )
    if hasattr(pin, "ModelPool"):
        pool = pin.ModelPool(model, 1)
        Q, V, TAU = (np.asfortranarray(np.transpose(x)) for x in (samples.q, samples.v, samples.tau))
        out = np.empty_like(V, order="F")
        peer.batch.update(
            aba=lambda: pin.abaInParallel(1, pool, Q, V, TAU, out),
            rnea=lambda: pin.rneaInParallel(1, pool, Q, V, TAU, out),
        )
    return peer


def _mujoco(mujoco: Any, file: Path, floating_base: bool, samples: Samples) -> Peer:
    if format_of(file) == "MJCF":
        model = mujoco.MjModel.from_xml_path(str(file))
    else:
        model = mujoco.MjModel.from_xml_string(without_shapes(file, _MUJOCO, floating_base))
    _same_size((model.nq, model.nv), samples)
    # Smooth dynamics only, as in the other libraries.
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = samples.q[0], samples.v[0], samples.tau[0]
    return Peer(
        "mujoco",
        {
            "aba": lambda: mujoco.mj_forward(model, data),
            "rnea": lambda: mujoco.mj_inverse(model, data),
            "frame_placement": lambda: mujoco.mj_kinematics(model, data),
        },
    )
