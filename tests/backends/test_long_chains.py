"""Robots of any size compile in little time and memory, and their numbers are right."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.codegen.cpu.jit import MachineCode, compile_module
from kinetree.codegen.cpu.module import emit
from kinetree.codegen.cpu.ufunc import batch_function, make_ufunc
from kinetree.codegen.llvm.precision import F64
from kinetree.codegen.llvm.target import host
from kinetree.expr import Index, Port, Program, Range, Recorder, interpret, trace_memory
from kinetree.joints import JointKind
from kinetree.spatial import Inertia, Sym3, Transform, Vec3
from kinetree.spatial.rotations import from_rpy
from tests import functions
from tests.kernels import compiled_late

HINGES = (kt.Revolute([0, 0, 1]), kt.Revolute([1, 0, 0]), kt.Prismatic([0, 1, 1]))
ALL_KINDS = (*HINGES, kt.joints.Continuous([1, 2, 3]), kt.Free())


def robot_of(parents: Sequence[int], kinds: Sequence[JointKind], size: float = 0.05) -> kt.Model:
    """Body k is on body parents[k - 1], with the kinds in turn; placements and inertias differ."""
    rng = np.random.default_rng(1)
    builder = kt.ModelBuilder("big")
    builder.add_body("b0")
    for k, parent in enumerate(parents, 1):
        com, angles, offset = (Vec3(*x) for x in (rng.normal(size=(3, 3)) * [[0.02], [0.5], [size]]).tolist())
        inertia = Inertia.from_com(float(rng.uniform(0.5, 1.5)), com, Sym3(0.010, 0.012, 0.014, 0.0, 0.0, 0.0))
        builder.add_body(f"b{k}", inertia)
        placement = Transform(from_rpy(*angles.components()).T, offset)
        kind = kinds[k % len(kinds)]
        builder.add_joint(f"j{k}", kind, f"b{parent}", f"b{k}", placement, damping=[0.1] * kind.nv)
    return builder.build()


def chain(n: int, kinds: Sequence[JointKind] = HINGES, size: float = 0.05) -> kt.Model:
    return robot_of(range(n), kinds, size)


SHAPES: dict[str, Callable[[], kt.Model]] = {
    "chain": lambda: chain(600),
    "star": lambda: robot_of([0] * 100, ALL_KINDS),
    "binary tree": lambda: robot_of([(k - 1) // 2 for k in range(1, 128)], ALL_KINDS),
}


def samples(robot: kt.Model, count: int) -> list[np.ndarray]:
    """q, v and a third, of so many samples."""
    rng = np.random.default_rng(2)
    q = np.stack([robot.random(rng) for _ in range(count)])
    return [q, 0.01 * rng.normal(size=(count, robot.nv)), rng.normal(size=(count, robot.nv))]


@pytest.mark.parametrize("shape", SHAPES)
def test_inverse_dynamics_undoes_forward_dynamics_and_a_batch_is_its_samples(shape: str) -> None:
    robot = SHAPES[shape]()
    q, v, tau = samples(robot, 9)
    qdd = kt.aba(robot, q, v, tau)
    np.testing.assert_array_equal(np.stack([kt.aba(robot, q[k], v[k], tau[k]) for k in (0, 7, 8)]), qdd[[0, 7, 8]])
    found = kt.rnea(robot, q, v, qdd)
    np.testing.assert_array_equal(np.stack([kt.rnea(robot, q[k], v[k], qdd[k]) for k in (0, 7, 8)]), found[[0, 7, 8]])
    np.testing.assert_allclose(found, tau, rtol=0.0, atol=1e-8 * max(1.0, np.abs(qdd).max()))


def test_columns_of_the_mass_matrix_are_forces_of_unit_accelerations() -> None:
    robot = chain(120, ALL_KINDS)
    q = samples(robot, 1)[0][0]
    rest, unit = np.zeros((1, robot.nv)), np.eye(robot.nv)
    columns = compiled_late(robot, kt.rnea, unroll=False)(q, rest, unit) - kt.gravity_forces(robot, q)
    H = compiled_late(robot, kt.crba, unroll=False)(q)
    np.testing.assert_allclose(H, columns.T, rtol=0.0, atol=1e-11 * np.abs(columns).max())
    np.testing.assert_array_equal(H, H.T)


@pytest.mark.parametrize("name", [*functions.LOOPING])
def test_every_function_of_a_large_tree_compiles_and_gives_numbers(name: str) -> None:
    function = functions.LOOPING[name]
    kinds = (ALL_KINDS[0], kt.Free(), *ALL_KINDS[1:4])  # one base that floats: only the first joint is on the root
    robot = robot_of([max(k - 1 - k % 3, min(k - 1, 1)) for k in range(1, 82)], kinds)
    assert robot.nv > 150  # beyond which nothing is written out
    options = functions.options_of(function, "b81", kind="classical")
    arrays = functions.samples(robot, function, 9, np.random.default_rng(2))
    batch = compiled_late(robot, function, **options)(*arrays)
    assert np.isfinite(batch).all()
    assert np.abs(batch).max() > 0.0
    if [*functions.LOOPING].index(name) % 6 == 0:  # code for single samples is compiled by itself, which takes long
        kernel = compiled_late(robot, function, **options)
        np.testing.assert_array_equal(kernel(*(x[8] for x in arrays)), batch[8])


@pytest.mark.skipif(sys.platform != "linux", reason="limits its memory as Linux does")
def test_a_long_chain_compiles_in_little_memory() -> None:
    """In a process of its own, which may take no more than 600 MB beyond what it holds after the import."""
    script = f"""
import resource, sys
sys.path[:0] = {[str(Path(__file__).parents[2])]!r}
import numpy as np
import kinetree as kt
from tests.backends.test_long_chains import chain
robot = chain(2000)
in_use = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (in_use + 600_000_000,) * 2)
q = robot.neutral()
qdd = kt.aba(robot, np.stack([q] * 9), np.zeros((9, robot.nv)), np.zeros((9, robot.nv)), threads=1)
assert np.isfinite(qdd).all()
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


# -- memory that the stack does not hold


def running_sums(n: int) -> Program:
    """y[k] = x[0] + … + x[k], by way of n numbers of memory."""

    def record(r: Recorder) -> None:
        (x,), (y,), a = r.inputs, r.outputs, r.array("a", n)
        with r.loop(Range(Index(0), Index(n))) as k:
            a[k] = x[k]
        with r.loop(Range(Index(1), Index(n))) as k:
            a[k] = a[k] + a[k - 1]
        with r.loop(Range(Index(0), Index(n))) as k:
            y[k] = a[k]

    return trace_memory(record, [Port("x", (n,))], [Port("y", (n,))], "sums")


N = 3000
SUMS = running_sums(N)


def test_memory_larger_than_the_stack_holds_is_taken_again_and_again() -> None:
    assert "@take" in emit(SUMS, F64, host())
    kernel = batch_function(SUMS)
    rng = np.random.default_rng(3)
    x = rng.normal(size=(9, N))
    (meant,) = interpret(SUMS, x[4].tolist())
    for _ in range(5):
        np.testing.assert_array_equal(kernel(x)[4], meant)
        np.testing.assert_array_equal(kernel(x[4]), meant)


def test_several_threads_at_once_have_memory_of_their_own() -> None:
    kernel = batch_function(SUMS)
    rng = np.random.default_rng(4)
    batches = [rng.normal(size=(64, N)) for _ in range(8)]
    expected = [np.cumsum(x, axis=-1) for x in batches]
    barrier = threading.Barrier(4)

    def work(start: int) -> list[bool]:
        barrier.wait()
        chosen = [(start + k) % 8 for k in range(24)]
        return [bool((kernel(batches[k]) == expected[k]).all()) for k in chosen]

    with ThreadPoolExecutor(4) as pool:
        assert all(all(right) for right in pool.map(work, range(4)))


@pytest.mark.skipif(sys.platform != "linux", reason="reads its own size as Linux reports it")
def test_kernels_that_are_dropped_leave_no_memory_behind() -> None:
    target = host()
    code = compile_module(emit(SUMS, F64, target), target)
    x = np.ones((9, N))

    def use_and_drop(times: int) -> None:
        for _ in range(times):
            make_ufunc(MachineCode(code), "sums", SUMS.inputs, SUMS.outputs, F64)(x)
        gc.collect()

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    use_and_drop(20)
    before = resident()
    use_and_drop(200)
    held = 8 * N * target.lanes(F64)  # at least, of each
    assert resident() - before < 0.25 * 200 * held
