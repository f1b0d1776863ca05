"""`kt.compile(…, device="cuda")` beside a driver that only counts: what it launches, where, and on which stream.

The kernels themselves are tested in tests/unit/codegen/ptx.
"""

from __future__ import annotations

import gc
import pickle
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import kinetree as kt
from kinetree.interop.cuda.arrays import DeviceArray
from kinetree.interop.cuda.device import LEGACY
from tests.counting_driver import CountingDriver, counting
from tests.ptx_threads import GraphicsProcessor

ROBOT = kt.zoo.load("double_pendulum")
RNG = np.random.default_rng(5)


@pytest.fixture
def gpu() -> Iterator[CountingDriver]:
    with counting(CountingDriver(devices=2)) as made:
        yield made
        gc.collect()


def compiled(gpu: CountingDriver, function: Any = kt.aba, robot: kt.Model = ROBOT, **options: Any) -> Any:
    made = kt.compile(robot, function, device="cuda", **options)
    gpu.computes(made._launcher.node)
    return made


class There:
    """An array on the device, as Numba shows it."""

    def __init__(self, x: Any, stream: int | None = None, read_only: bool = False) -> None:
        self.kept = x
        self.__cuda_array_interface__ = {
            "shape": x.shape,
            "typestr": x.dtype.str,
            "data": (x.ctypes.data, read_only),
            "strides": x.strides,
            "stream": stream,
            "version": 3,
        }


def arguments(count: int | None = 5, dtype: Any = float) -> list[np.ndarray]:
    shape = (2,) if count is None else (count, 2)
    return [RNG.normal(size=shape).astype(dtype) for _ in range(3)]


def test_arrays_of_this_computer_go_there_and_back(gpu: CountingDriver) -> None:
    f = compiled(gpu)
    given = arguments(300)
    np.testing.assert_array_equal(f(*given), kt.aba(ROBOT, *given))
    ((entry, grid, block, stream, parameters),) = gpu.launches
    assert (entry, grid, block, stream) == ("kinetree_aba", 3, 128, LEGACY)
    assert parameters[1:6:2] == [2, 2, 2]
    assert parameters[-1] == 300
    assert gpu.memory == {}
    assert repr(f) == (
        "<aba(q[2], v[2], tau[2]) compiled for 'double_pendulum', float64, on cuda:0 (a device that only counts)>"
    )
    assert f.registers_and_memory == (96, 16)
    assert ".entry kinetree_aba" in f.text


def test_a_launch_gives_the_kernel_what_it_takes(gpu: CountingDriver) -> None:
    """The kernel itself, run by as many threads as the launch says."""
    f = kt.compile(ROBOT, kt.aba, device="cuda")
    ptx = f._launcher.node.ptx
    processor = GraphicsProcessor(ptx.module(), ptx.block)
    gpu.computed_by(ptx.entry, lambda parameters: processor.launch(1, parameters))
    q, v, tau = arguments()
    np.testing.assert_array_equal(f(There(q), There(v), There(tau[2])).numpy(), kt.aba(ROBOT, q, v, tau[2]))
    assert gpu.launches[0][1:3] == (1, 128)


def test_one_sample_lists_and_out(gpu: CountingDriver) -> None:
    f = compiled(gpu)
    expected = kt.aba(ROBOT, [0.1, 0.2], [0.3, 0.4], [0.0, 0.0])
    np.testing.assert_array_equal(f([0.1, 0.2], [0.3, 0.4], [0.0, 0.0]), expected)
    out = np.empty(2)
    assert f([0.1, 0.2], [0.3, 0.4], [0.0, 0.0], out=out) is out
    np.testing.assert_array_equal(out, expected)


def test_leading_axes_broadcast(gpu: CountingDriver) -> None:
    """One sample for all has the distance 0; what has more than one distance is copied first."""
    f = compiled(gpu)
    q, v, tau = RNG.normal(size=(4, 1, 2)), RNG.normal(size=(1, 3, 2)), RNG.normal(size=2)
    found = f(There(q), There(v), There(tau))
    np.testing.assert_array_equal(found.numpy(), kt.aba(ROBOT, q, v, tau))
    assert [launch[0] for launch in gpu.launches] == ["kinetree_gather", "kinetree_gather", "kinetree_aba"]
    assert gpu.launches[-1][4][1:6:2] == [2, 2, 0]


def test_arrays_with_strides(gpu: CountingDriver) -> None:
    """Rows that are apart need no copy, numbers of a row that are apart do."""
    f = compiled(gpu)
    whole, other = RNG.normal(size=(5, 6)), RNG.normal(size=(2, 5))
    q, v, tau = whole[:, :2], whole[::-1, 2:4], other.T
    found = f(There(q), There(v), There(tau))
    np.testing.assert_array_equal(found.numpy(), kt.aba(ROBOT, q, v, tau))
    assert [launch[0] for launch in gpu.launches] == ["kinetree_gather", "kinetree_gather", "kinetree_aba"]
    assert gpu.launches[-1][4][1] == 6


def test_streams(gpu: CountingDriver) -> None:
    """The kernel's stream waits for that of each argument, and nothing waits for the device."""
    f = compiled(gpu)
    q, v, tau = arguments()
    result = f(There(q, stream=7), There(v, stream=9), There(tau), stream=9)
    assert gpu.waits == [(9, 7)]
    assert gpu.launches[0][3] == 9
    assert isinstance(result, DeviceArray)
    assert result.__cuda_array_interface__["stream"] == 9
    assert gpu.counts["cuStreamSynchronize"] == gpu.counts["cuCtxSynchronize"] == 0
    result.__dlpack__(stream=11)
    assert gpu.waits == [(9, 7), (11, 9)]
    del result
    gc.collect()
    assert gpu.counts["cuCtxSynchronize"] == 1  # it was given to others
    assert gpu.memory == {}


def test_results_are_arguments_of_the_next_call(gpu: CountingDriver) -> None:
    f = compiled(gpu)
    q, v, tau = arguments()
    first = f(There(q), There(v), There(tau))
    second = f(There(q), There(v), first)
    np.testing.assert_array_equal(second.numpy(), kt.aba(ROBOT, q, v, kt.aba(ROBOT, q, v, tau)))
    assert gpu.counts["cuCtxSynchronize"] == 0
    assert repr(first) == "<array (5, 2), float64, on cuda:0 (a device that only counts)>"


def test_out_on_the_device(gpu: CountingDriver) -> None:
    """It may be one of the arguments, which is then copied first."""
    f = compiled(gpu)
    q, v, tau = arguments()
    expected = kt.aba(ROBOT, q, v, tau)
    out = There(tau)
    assert f(There(q), There(v), out, out=out) is out
    np.testing.assert_array_equal(tau, expected)
    assert gpu.launches[0][0] == "kinetree_gather"
    for wrong, message in (
        (There(np.empty((4, 2))), r"out has shape \(4, 2\), but the result has \(5, 2\)"),
        (There(np.empty((2, 5)).T), "out is not in C order"),
        (There(np.empty((5, 2)), read_only=True), "out is read-only"),
        (np.empty((5, 2)), "out is in this computer's memory"),
        (There(np.empty((5, 2), np.float32)), "out is float32, but this function was compiled for float64"),
    ):
        with pytest.raises((kt.errors.ShapeError, kt.errors.DTypeError), match=message):
            f(There(q), There(v), There(q), out=wrong)


def test_what_does_not_fit(gpu: CountingDriver) -> None:
    f = compiled(gpu)
    q, v, tau = arguments()
    there = [There(q), There(v), There(tau)]
    with pytest.raises(
        kt.errors.DTypeError, match=r"is on cuda:0 .*, but argument 2 \(numpy.ndarray\) is in this computer's"
    ):
        f(there[0], v, there[2])
    with pytest.raises(kt.errors.DTypeError, match=r'v is float32, .* compiled for float64: .*dtype="float32"'):
        f(there[0], There(v.astype(np.float32)), there[2])
    with pytest.raises(kt.errors.DTypeError, match="v is int64, but this function takes float64"):
        f(there[0], There(v.astype(np.int64)), there[2])
    with pytest.raises(kt.errors.ShapeError, match=r"v has shape \(5, 3\), but 'double_pendulum' needs \(…, 2\)"):
        f(there[0], There(np.zeros((5, 3))), there[2])
    with pytest.raises(kt.errors.ShapeError, match="the leading axes do not broadcast together"):
        f(there[0], There(np.zeros((4, 2))), there[2])
    with pytest.raises(kt.errors.DTypeError, match=r"aba takes 3 arrays \(q, v, tau\), not 2"):
        f(*there[:2])
    with pytest.raises(kt.errors.DTypeError, match="stream must be a stream of PyTorch, CuPy or Numba, or its number"):
        f(*there, stream="main")
    with pytest.raises(kt.errors.DTypeError, match="aba: q is a masked array: give its numbers"):
        f(Masked(), *there[1:])
    assert gpu.launches == []
    assert gpu.memory == {}


class Masked:
    """Numba's interface can say that numbers are missing."""

    __cuda_array_interface__ = {**There(np.zeros((5, 2))).__cuda_array_interface__, "mask": object()}  # noqa: RUF012


def test_an_empty_batch_launches_nothing(gpu: CountingDriver) -> None:
    f = compiled(gpu)
    assert f(*(np.zeros((0, 2)) for _ in range(3))).shape == (0, 2)
    assert gpu.launches == []


def test_a_robot_without_joints(gpu: CountingDriver) -> None:
    """Arrays of no numbers take part with their leading axes."""
    robot = ROBOT.lock(list(ROBOT.joints))
    assert compiled(gpu, robot=robot)(*(np.zeros((5, 0)) for _ in range(3))).shape == (5, 0)
    assert gpu.launches == []


def test_options_forces_parameters_and_single_precision(gpu: CountingDriver) -> None:
    frame = next(iter(ROBOT.frames))
    f = compiled(gpu, dtype="float32", f_ext=[frame], parameters=["gravity"])
    q, v, tau = arguments(dtype=np.float32)
    force, gravity = RNG.normal(size=6).astype(np.float32), np.float32([0, 1, -9])
    found = f(*map(There, (q, v, tau, force, gravity)))
    expected = kt.aba(ROBOT, q, v, tau, f_ext={frame: force}, parameters={"gravity": gravity})
    np.testing.assert_array_equal(found.numpy(), expected)


def test_numbers_among_arrays_of_the_device(gpu: CountingDriver) -> None:
    """The length of a step is brought to the device once; in an array's place a number is refused as ever."""
    f = compiled(gpu, kt.rollout, steps=3)
    q, v, _ = arguments()
    forces = RNG.normal(size=(5, 3, 2))
    for _ in range(2):
        found = f(There(q), There(v), There(forces), 0.01)
        np.testing.assert_array_equal(found.numpy(), kt.compile(ROBOT, kt.rollout, steps=3)(q, v, forces, 0.01))
    assert gpu.counts["cuMemcpyHtoDAsync_v2"] == 1
    with pytest.raises(kt.errors.ShapeError, match=r"v has shape \(\), but 'double_pendulum' needs \(…, 2\)"):
        f(There(q), 1.0, There(forces), 0.01)


def test_numbers_of_constraints_may_be_left_out(gpu: CountingDriver) -> None:
    """They are brought to the device once."""
    frame = list(ROBOT.frames)[-1]
    held = [kt.constraints.Contact(frame, [0.0, 0.0, 1.0], at=[0.1, 0.0, 0.2])]
    f = compiled(gpu, kt.constraints.constraint_errors, constraints=held)
    q = arguments()[0]
    expected = kt.constraints.constraint_errors(ROBOT, q, constraints=held)
    for _ in range(2):
        np.testing.assert_array_equal(f(There(q)).numpy(), expected)
    copied = gpu.counts["cuMemcpyHtoDAsync_v2"]
    f(There(q))
    assert gpu.counts["cuMemcpyHtoDAsync_v2"] == copied > 0
    np.testing.assert_array_equal(f(q), expected)


def test_a_program(gpu: CountingDriver) -> None:
    @kt.program(q=ROBOT, gain=())
    def spring(q, gain):
        return -gain * q

    f = spring.compile(device="cuda:1")
    gpu.computes(f._launcher.node)
    assert f.device == "cuda:1"
    np.testing.assert_array_equal(f([[1.0, 2.0]], 2.0), [[-2.0, -4.0]])


def test_it_pickles(gpu: CountingDriver) -> None:
    f = compiled(gpu)
    again = pickle.loads(pickle.dumps(f))
    gpu.computes(again._launcher.node)
    given = arguments()
    np.testing.assert_array_equal(again(*given), kt.aba(ROBOT, *given))


def test_quaternions_of_this_computers_arrays_are_checked(gpu: CountingDriver) -> None:
    robot = kt.zoo.load("quadruped")
    f = compiled(gpu, kt.gravity_forces, robot)
    q = np.tile(robot.neutral(), (3, 1))
    q[1, 3:7] = 0.0
    with pytest.raises(kt.errors.ConfigurationError, match=r"q\[1\]: the quaternion"):
        f(q)


def test_the_device_is_full(gpu: CountingDriver) -> None:
    f = compiled(gpu)
    gpu.full = True
    with pytest.raises(kt.errors.DeviceError, match=r"CUDA: cuMemAllocAsync failed: out of memory \(CUDA_ERROR_OOM\)"):
        f(*arguments())


def test_machines_without_a_device() -> None:
    missing = patch("kinetree.interop.cuda.device.ctypes.CDLL", side_effect=OSError)
    with (
        missing,
        pytest.raises(kt.errors.DeviceError, match=r"a graphics processor of NVIDIA: its driver \(.*\) is missing"),
    ):
        kt.compile(ROBOT, kt.aba, device="cuda")
    for made, message in (
        (CountingDriver(devices=0), "its driver is here, but there is none"),
        (CountingDriver(capability=(7, 0)), r"has compute capability 7.0; kernels need 7.5 or more \(Turing, 2018\)"),
    ):
        with counting(made), pytest.raises(kt.errors.DeviceError, match=message):
            kt.compile(ROBOT, kt.aba, device="cuda")
    stopped = CountingDriver()
    stopped.start = 100
    with counting(stopped), pytest.raises(kt.errors.DeviceError, match="its driver is here, but there is none"):
        kt.compile(ROBOT, kt.aba, device="cuda")
    with counting(CountingDriver(devices=2)), pytest.raises(kt.errors.DeviceError, match="there are cuda:0 to cuda:1"):
        kt.compile(ROBOT, kt.aba, device="cuda:2")


@pytest.mark.parametrize("wrong", ["gpu", "cuda:", "cuda:x", "", 1, None, "CUDA"])
def test_other_names_of_devices(wrong: Any) -> None:
    with pytest.raises(kt.errors.OptionError, match='device must be "cpu", "cuda" or'):
        kt.compile(ROBOT, kt.aba, device=wrong)
