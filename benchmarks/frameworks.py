"""kinetree in JAX, PyTorch and CasADi beside the libraries made for these: first use, and time per sample of a batch.

    pip install adam-robotics frax pytorch-kinematics mujoco-mjx
    python benchmarks/frameworks.py [--samples 4096] [--rounds 20] [--write]

The peers: adam (JAX), frax (JAX), MJX (JAX) and pytorch-kinematics; one that is not installed is left out, and said
so. All read one URDF file of the Panda with its fingers locked, written by kinetree, without meshes. It takes several
minutes, most of them in the compilers of the peers. Double precision; batches by
`jax.vmap` in `jax.jit`, or those of the library. adam has no dynamics of a fixed base: its accelerations are
the solution of the joints' block of its mass matrix. Results are compared before anything is timed. First use is from
the loaded robot to the first result, with nothing on disk; then calls take turns in one process, medians of rounds.

Below that are the figures that kinetree promises. `--write` puts both into docs/frameworks.md. docs/jax.md,
docs/torch.md and docs/c.md have more of each, by benchmarks/jax_calls.py, torch_calls.py and c_calls.py.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jax
import jax.numpy as jnp
import numpy as np
import torch

import kinetree as kt
from robots import ROBOTS
from timing import medians

jax.config.update("jax_enable_x64", True)
PAGE = Path(__file__).parents[1] / "docs" / "frameworks.md"
BEGIN, END = "<!-- figures: python benchmarks/frameworks.py --write -->\n", "<!-- end of figures -->\n"
FRAME = "panda_link8"
Call = Callable[[], Any]
Peer = dict[str, Callable[..., Any]]
"""The computations of a library, by name: functions of q, v and tau, batches."""
ACCELERATIONS, MASS_MATRICES, POSES = "q̈ (`aba`)", "M (`crba`)", f"pose of {FRAME}"


def panda(folder: Path) -> tuple[kt.Model, Path]:
    """The robot, and its file for the others."""
    robot = next(robot for robot in ROBOTS if robot.name == "Panda").load()
    robot = robot.lock([name for name in robot.joints if "finger" in name])
    path = folder / "panda.urdf"
    kt.save(robot, path)
    file = ElementTree.parse(path)
    for link in file.iter("link"):
        for part in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(part)  # their meshes are not beside the file
        for inertial in link.findall("inertial"):
            if inertial.find("origin") is None:  # adam needs it
                ElementTree.SubElement(inertial, "origin", xyz="0 0 0", rpy="0 0 0")
    file.write(path)
    return kt.load(path), path


def in_jax(robot: kt.Model) -> Peer:
    functions = {
        ACCELERATIONS: kt.interop.to_jax(robot, kt.aba),
        MASS_MATRICES: kt.interop.to_jax(robot, kt.crba),
        POSES: kt.interop.to_jax(robot, kt.frame_placement, frame=FRAME),
    }
    return {name: jax.jit(_of_all(f)) for name, f in functions.items()}


def in_torch(robot: kt.Model) -> Peer:
    return {POSES: _of_all(kt.interop.to_torch(robot, kt.frame_placement, frame=FRAME))}


def _of_all(function: Any) -> Callable[..., Any]:
    """A function of q, v and tau of one that may take q alone."""
    count = len(function.names)
    return lambda *given: function(*given[:count])


def by_adam(path: Path) -> Peer:
    from adam.jax import KinDynComputations

    joints = [f"panda_joint{k}" for k in range(1, 8)]
    robot = KinDynComputations(str(path), joints, gravity=np.array([0.0, 0.0, -9.81, 0.0, 0.0, 0.0]))

    def base(q: Any) -> Any:
        return jnp.broadcast_to(jnp.eye(4), (len(q), 4, 4))

    def accelerations(q: Any, v: Any, tau: Any) -> Any:
        bias = robot.bias_force(base(q), q, jnp.zeros((len(q), 6)), v)[:, 6:]
        return jnp.linalg.solve(mass_matrices(q), (tau - bias)[..., None])[..., 0]

    def mass_matrices(q: Any, *_: Any) -> Any:
        return robot.mass_matrix(base(q), q)[:, 6:, 6:]

    def poses(q: Any, *_: Any) -> Any:
        return robot.forward_kinematics(FRAME, base(q), q)

    functions = {ACCELERATIONS: accelerations, MASS_MATRICES: mass_matrices, POSES: poses}
    return {name: jax.jit(function) for name, function in functions.items()}  # it has batches of its own


def by_frax(path: Path) -> Peer:
    import frax

    robot = frax.Robot(str(path))
    return _in_batches(
        {
            ACCELERATIONS: lambda q, v, tau: robot.forward_dynamics(q, v, tau, None),
            MASS_MATRICES: lambda q, *_: robot.mass_matrix(q),
        }
    )


def by_mjx(path: Path) -> Peer:
    import mujoco
    from mujoco import mjx

    whole = mujoco.MjModel.from_xml_path(str(path))
    whole.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    whole.dof_damping[:] = whole.dof_frictionloss[:] = 0.0  # of the file; kinetree's aba has them on request
    model = mjx.put_model(whole)
    blank = mjx.make_data(model)

    def accelerations(q: Any, v: Any, tau: Any) -> Any:
        return mjx.forward(model, blank.replace(qpos=q, qvel=v, qfrc_applied=tau)).qacc

    return _in_batches({ACCELERATIONS: accelerations})


def by_pytorch_kinematics(path: Path) -> Peer:
    import pytorch_kinematics

    chain = pytorch_kinematics.build_serial_chain_from_urdf(path.read_bytes(), FRAME).to(dtype=torch.float64)
    return {POSES: lambda q, *_: chain.forward_kinematics(q).get_matrix()}


def _in_batches(functions: Peer) -> Peer:
    return {name: jax.jit(jax.vmap(function)) for name, function in functions.items()}


JAX_PEERS = {"adam-robotics": by_adam, "frax": by_frax, "mujoco-mjx": by_mjx}
TORCH_PEERS = {"pytorch-kinematics": by_pytorch_kinematics}


def compared(robot: kt.Model, path: Path, samples: int, rounds: int) -> Iterator[str]:
    """The rows of the table."""
    rng = np.random.default_rng(0)
    q, v, tau = robot.random(rng, samples), *rng.normal(size=(2, samples, robot.nv))
    expected = {
        ACCELERATIONS: kt.aba(robot, q, v, tau),
        MASS_MATRICES: kt.crba(robot, q),
        POSES: kt.frame_placement(robot, q, FRAME),
    }
    yield "| function | library | first use, s | µs per sample | times kinetree's | error |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for own, peers, array in (
        (("kinetree in JAX", in_jax), JAX_PEERS, jnp.asarray),
        (("kinetree in PyTorch", in_torch), TORCH_PEERS, torch.as_tensor),
    ):
        given = [array(x) for x in (q, v, tau)]
        libraries = {own[0]: own[1](robot)}
        for package, load in peers.items():
            try:
                libraries[f"{package} {version(package)}"] = load(path)
            except (ImportError, PackageNotFoundError) as error:
                print(f"{package} is left out: {error}")
        for name, right in expected.items():
            yield from _rows(name, {k: x[name] for k, x in libraries.items() if name in x}, given, right, rounds)


def _rows(
    name: str, functions: dict[str, Callable[..., Any]], given: list[Any], right: np.ndarray, rounds: int
) -> Iterator[str]:
    first, errors, calls = {}, {}, {}
    for library, function in functions.items():
        begun = time.perf_counter()
        found = np.asarray(_ready(function(*given)))
        first[library] = time.perf_counter() - begun
        errors[library] = abs(found.reshape(right.shape) - right).max() / abs(right).max()
        calls[library] = lambda function=function: _ready(function(*given))
    seconds = medians(calls, rounds)
    own = seconds[next(iter(functions), "")] if functions else 1.0
    for library, t in seconds.items():
        yield (
            f"| {name} | {library} | {first[library]:.2f} | {t / len(right) * 1e6:.3f} | {t / own:.1f} | "
            f"{errors[library]:.0e} |"
        )


def _ready(x: Any) -> Any:
    return x.block_until_ready() if hasattr(x, "block_until_ready") else x


def promised(robot: kt.Model, samples: int, rounds: int) -> Iterator[str]:
    """The figures of the project's own goals."""
    rng = np.random.default_rng(0)
    q, v, tau = robot.random(rng, samples), *rng.normal(size=(2, samples, robot.nv))
    aba, builtin = kt.interop.to_jax(robot, kt.aba), kt.compile(robot, kt.aba)
    steps = 10_000

    @jax.jit
    def scanned(v: Any) -> Any:
        return jax.lax.scan(lambda v, _: (1e-9 * aba(q[0], v, tau[0]), None), v, length=steps)[0]

    many, jitted = [jnp.asarray(x) for x in (q, v, tau)], jax.jit(aba)
    empty = jax.jit(lambda *given: jnp.copy(given[2]), keep_unused=True)
    one = [torch.as_tensor(x[0]) for x in (q, v, tau)]
    single, tensors = [x[0].copy() for x in (q, v, tau)], kt.interop.to_torch(robot, kt.aba)
    again = range(1000)
    calls: dict[str, Call] = {
        "scan": lambda: scanned(many[1][0]).block_until_ready(),
        "builtin": lambda: [builtin(*single) for _ in again],
        "torch": lambda: [tensors(*one) for _ in again],
    }
    batches: dict[str, Call] = {
        "jit": lambda: jitted(*many).block_until_ready(),
        "empty": lambda: empty(*many).block_until_ready(),
        "numpy": lambda: kt.aba(robot, q, v, tau),
    }
    for call in (*calls.values(), *batches.values()):
        call()
    t = medians(calls, rounds) | medians(batches, 20 * rounds)
    yield "| figure | found | goal |"
    yield "| --- | --- | --- |"
    yield f"| Panda's `aba` as a step of `jax.lax.scan` | {t['scan'] / steps * 1e6:.2f} µs | 1 µs |"
    yield f"| a batch of {samples} in `jax.jit`, relative to NumPy's | {t['jit'] / t['numpy']:.2f} times | 1.1 times |"
    rest = (t["jit"] - t["empty"]) / t["numpy"]
    yield f"| the same without the time of a `jax.jit` that computes nothing | {rest:.2f} times | 1.1 times |"
    above = (t["torch"] - t["builtin"]) / len(again)
    yield f"| PyTorch's call without gradients, above the builtin's | {above * 1e6:.1f} µs | 4 µs |"
    yield f"| CasADi's Jacobian of the expression, error | {_casadi_error(robot, single):.0e} | 1e-12 |"


def _casadi_error(robot: kt.Model, given: list[np.ndarray]) -> float:
    """The largest difference of the Jacobians by q, relative to the largest number."""
    import casadi

    made = kt.interop.to_casadi(robot, kt.aba)
    found = np.array(casadi.DM(made.jacobian()(*given, 0)[0]))
    expected = kt.jacobian(robot, kt.aba, given, wrt="q")
    return float(abs(found - expected).max() / abs(expected).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--write", action="store_true", help="put the figures into docs/frameworks.md")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KINETREE_CACHE_DIR"] = folder
        robot, path = panda(Path(folder))
        lines = [*compared(robot, path, asked.samples, asked.rounds), "", *promised(robot, asked.samples, asked.rounds)]
    print("\n".join(lines))
    if asked.write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        told = f"`python benchmarks/frameworks.py --write` measured this with batches of {asked.samples}:"
        section = [BEGIN, "## Comparison with other libraries", "", told, "", *lines, "", END]
        PAGE.write_text(before + "\n".join(section) + rest.partition(END)[2])


if __name__ == "__main__":
    main()
