"""The function that XLA calls: calls with made-up frames, of which it checks everything before it computes."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.codegen.cpu import xla_frame
from kinetree.codegen.cpu.jit import MachineCode
from kinetree.codegen.cpu.xla_frame import (
    Api,
    Buffer,
    CallFrame,
    ErrorRelease,
    ErrorRequest,
    Extension,
    Metadata,
    PoolRequest,
    TaskRequest,
)
from kinetree.codegen.cpu.xla_threads import Task
from kinetree.codegen.llvm.memory import FAILURES
from kinetree.interop.node import Node
from kinetree.interop.subject import Subject

F64, F32 = xla_frame.DATA_TYPES["float64"], xla_frame.DATA_TYPES["float32"]
CREATE_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(ErrorRequest))


@kt.program(A=(2, 3), x=3, gain=())
def product(A, x, gain):
    return gain * (A @ x)


TASK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
SCHEDULE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(TaskRequest))
COUNT = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(PoolRequest))
DESTROY = ctypes.CFUNCTYPE(None, ctypes.POINTER(ErrorRelease))


class Xla:
    """XLA as a handler sees it: frames, and errors."""

    def __init__(self, code: MachineCode) -> None:
        self.code = code
        self.errors: list[tuple[str, int]] = []
        self.call = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(code.address("handler"))

        @CREATE_ERROR
        def create(request: Any) -> int:
            assert request.contents.struct_size == 28
            self.errors.append((request.contents.message.decode(), request.contents.code))
            return 1

        self.create = create
        self.api = Api(struct_size=ctypes.sizeof(Api), error_create=ctypes.cast(create, ctypes.c_void_p))
        self.api.api_version.major, self.api.api_version.minor = 0, 3

    def frame(self, arrays: list[np.ndarray], results: list[np.ndarray]) -> CallFrame:
        self.kept = [[_buffer(x) for x in found] for found in (arrays, results)]
        frame = CallFrame(struct_size=ctypes.sizeof(CallFrame), api=ctypes.addressof(self.api), stage=3)
        for values, buffers in zip((frame.arguments, frame.results), self.kept, strict=True):
            table = (ctypes.c_void_p * len(buffers))(*(ctypes.addressof(buffer) for buffer in buffers))
            values.size, values.values = len(buffers), ctypes.addressof(table)
            buffers.append(table)
        return frame

    def error_of(self, frame: CallFrame) -> tuple[str, int]:
        assert self.call(ctypes.addressof(frame)) == 1
        return self.errors.pop()


def _buffer(x: np.ndarray) -> Buffer:
    dims = (ctypes.c_int64 * x.ndim)(*x.shape)
    buffer = Buffer(
        struct_size=ctypes.sizeof(Buffer),
        dtype=F64 if x.dtype == np.float64 else F32,
        data=x.ctypes.data,
        rank=x.ndim,
        dims=ctypes.addressof(dims),
    )
    buffer.kept = x, dims
    return buffer


def node_of(program: Callable[..., Any], dtype: str = "float64") -> Node:
    return Subject(program).node(dtype)


@pytest.fixture(scope="module")
def xla() -> Xla:
    return Xla(node_of(product).kernels.xla_handler())


def arguments(*batch: int) -> list[np.ndarray]:
    rng = np.random.default_rng(2)
    return [rng.normal(size=(*batch, *shape)) for shape in ((2, 3), (3,), ())]


@pytest.mark.parametrize("batch", [(), (1,), (5,), (4, 30), (0,), (3, 0)])
def test_batches_are_computed(xla: Xla, batch: tuple[int, ...]) -> None:
    given, found = arguments(*batch), np.full((*batch, 2), np.nan)
    assert xla.call(ctypes.addressof(xla.frame(given, [found]))) is None
    np.testing.assert_array_equal(found, product(*given))


def test_arguments_of_one_sample_are_shared(xla: Xla) -> None:
    (A, _, gain), (_, x, _) = arguments(), arguments(2, 7)
    found = np.full((2, 7, 2), np.nan)
    assert xla.call(ctypes.addressof(xla.frame([A, x, gain], [found]))) is None
    np.testing.assert_array_equal(found, product(A, x, gain))


def test_other_arrays_are_refused(xla: Xla) -> None:
    A, x, gain = arguments(5)
    y, code = np.zeros((5, 2)), xla_frame.INVALID_ARGUMENT
    other = {
        "product: x must be an array (…, 3) of float64": ([A, x[:, :2].copy(), gain], [y]),
        "product: A must be an array (…, 2, 3) of float64": ([A.astype(np.float32), x, gain], [y]),
        "product: the leading axes of x must be those of the results, or absent": ([A, x[:4], gain], [y]),
        "product: the leading axes of gain must be those of the results, or absent": ([A, x, gain[:, None]], [y]),
        "product takes 3 arrays and gives 1; this call has others": ([A, x], [y]),
        "product: the leading axes of A must be those of the results, or absent": ([A, x, gain], [y[:4].copy()]),
    }
    for sentence, (given, results) in other.items():
        assert xla.error_of(xla.frame(given, results)) == (sentence, code)
    assert "must be an array (…, 2) of float64" in xla.error_of(xla.frame([A, x, gain], [np.zeros((5, 3))]))[0]
    assert "must be an array (…, 2) of float64" in xla.error_of(xla.frame([A, x, gain], [np.zeros(())]))[0]


def test_calls_of_another_layout_are_refused(xla: Xla) -> None:
    frame = xla.frame(arguments(), [np.zeros(2)])
    frame.struct_size -= 8
    assert xla.error_of(frame) == ("product: this version of XLA makes calls that kinetree does not know", 3)
    frame = xla.frame(arguments(), [np.zeros(2)])
    xla.kept[0][1].struct_size -= 8
    assert "x must be an array" in xla.error_of(frame)[0]


def test_other_stages_do_nothing(xla: Xla) -> None:
    found = np.full(2, np.nan)
    frame = xla.frame(arguments(), [found])
    frame.stage = 1
    assert xla.call(ctypes.addressof(frame)) is None
    assert np.isnan(found).all()


@pytest.mark.parametrize("version", [(0, 3), (0, 5), None])
def test_it_speaks_the_version_that_it_is_asked_by(xla: Xla, version: tuple[int, int] | None) -> None:
    metadata = Metadata(traits=7)
    extension = Extension(type=xla_frame.METADATA, metadata=ctypes.addressof(metadata))
    frame = xla.frame([], [])
    frame.extension_start = ctypes.addressof(extension)
    if version is None:  # the first ones do not say
        frame.api = None
    else:
        xla.api.api_version.major, xla.api.api_version.minor = version
    assert xla.call(ctypes.addressof(frame)) is None
    assert (metadata.api_version.major, metadata.api_version.minor) == (version or (0, 1))
    assert metadata.traits == 0


def test_quaternions_without_direction_give_nan_in_their_samples() -> None:
    robot = kt.zoo.load("arm7", floating_base=True)
    node = Subject(robot, kt.rnea).node("float64")
    q, v, a = robot.random(np.random.default_rng(0), 9), *np.ones((2, 9, robot.nv))
    found, expected = np.zeros((9, robot.nv)), kt.rnea(robot, q, v, a)
    xla = Xla(node.kernels.xla_handler())
    q[4, 3:] = 0.0
    assert xla.call(ctypes.addressof(xla.frame([q, v, a], [found]))) is None
    assert np.isnan(found[4]).any()
    np.testing.assert_array_equal(np.delete(found, 4, 0), np.delete(expected, 4, 0))


def test_optimised_code_takes_the_place_of_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETREE_CACHE", "off")
    kernels = Node.kernels.func(node_of(product))  # type: ignore[attr-defined]  # new ones
    xla = Xla(kernels.xla_handler())
    A, x, gain = np.arange(24.0).reshape(4, 2, 3), np.arange(12.0).reshape(4, 3), np.array(0.5)
    expected = product(A, x, gain)
    for optimised in (False, True):
        found = np.zeros((4, 2))
        assert xla.call(ctypes.addressof(xla.frame([A, x, gain], [found]))) is None
        np.testing.assert_array_equal(found, expected)
        assert kernels.optimized is optimised
        if not optimised:
            before = Task.from_address(xla.code.data_address("task")).kernel
            (waiting,) = kernels._modules.waiting
            waiting.optimize_now()
            assert Task.from_address(xla.code.data_address("task")).kernel != before


@pytest.mark.parametrize("optimised", [False, True])
def test_a_lack_of_memory_is_an_error_of_the_call(optimised: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETREE_CACHE", "off")

    @kt.program(x=5_000)
    def large(x):
        return kt.programs.fori(3, lambda _, y: y * y[::-1], x)

    allocate = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(lambda _: None)
    from kinetree.codegen.cpu import jit

    address_of = jit._address_of
    nowhere = ctypes.cast(allocate, ctypes.c_void_p).value
    monkeypatch.setattr(jit, "_address_of", lambda name: nowhere if name == "malloc" else address_of(name))
    kernels = node_of(large).kernels
    assert kernels.batch_code().data_address(FAILURES)
    xla = Xla(kernels.xla_handler())
    if optimised:
        for waiting in kernels._modules.waiting:
            waiting.optimize_now()
    error = xla.error_of(xla.frame([np.zeros(5_000)], [np.zeros(5_000)]))
    assert error == ("large: there is not enough memory for its intermediate results", 8)


class Pool:
    """XLA's threads: `run` gets the tasks, or None to refuse them."""

    def __init__(self, xla: Xla, threads: int, run: Callable[[Callable[[], None]], object] | None) -> None:
        self.asked = self.refused = 0

        @SCHEDULE
        def schedule(request: Any) -> int:
            wanted = request.contents
            assert (wanted.struct_size, wanted.context) == (40, 77)
            self.asked += 1
            if run is None:
                return 5
            task, data = TASK(wanted.task), wanted.data
            run(lambda: task(data))
            return 0

        @COUNT
        def count(request: Any) -> int:
            assert (request.contents.struct_size, request.contents.context) == (32, 77)
            ctypes.c_int64.from_address(request.contents.threads).value = threads
            return 5 if threads < 0 else 0

        @DESTROY
        def destroy(release: Any) -> None:
            assert (release.contents.struct_size, release.contents.error) == (24, 5)
            self.refused += 1

        self.kept = schedule, count, destroy
        api = xla.api
        api.pool_schedule, api.pool_threads, api.error_destroy = (
            ctypes.cast(x, ctypes.c_void_p).value for x in self.kept
        )

    def computed(self, xla: Xla, count: int) -> None:
        given, found = arguments(count), np.full((count, 2), np.nan)
        frame = xla.frame(given, [found])
        frame.context = 77
        assert xla.call(ctypes.addressof(frame)) is None
        np.testing.assert_array_equal(found, product(*given, threads=1))


@pytest.fixture(scope="module")
def threaded() -> Xla:
    return Xla(node_of(product).kernels.xla_handler(4))


LARGE = 50_000


def test_large_batches_are_computed_by_the_pool(threaded: Xla) -> None:
    threads: list[threading.Thread] = []

    def start(task: Callable[[], None]) -> None:
        threads.append(threading.Thread(target=task))
        threads[-1].start()

    for size, helpers in ((100, 0), (LARGE, 3), (LARGE + 1, 3)):
        pool = Pool(threaded, 8, start)
        pool.computed(threaded, size)
        assert pool.asked == helpers
    for thread in threads:
        thread.join()
    pool = Pool(threaded, 2, start)
    pool.computed(threaded, LARGE)
    assert pool.asked == 2
    for thread in threads:
        thread.join()


def test_tasks_that_run_at_once_or_too_late(threaded: Xla) -> None:
    Pool(threaded, 8, lambda task: task()).computed(threaded, LARGE)
    late: list[Callable[[], None]] = []
    Pool(threaded, 8, late.append).computed(threaded, LARGE)
    assert len(late) == 3
    for task in late:  # the arrays of the call are gone
        task()


@pytest.mark.parametrize(("threads", "asked", "refused"), [(8, 1, 1), (0, 0, 0), (-1, 0, 1)])
def test_a_pool_that_refuses(threaded: Xla, threads: int, asked: int, refused: int) -> None:
    pool = Pool(threaded, threads, None)
    pool.computed(threaded, LARGE)
    assert (pool.asked, pool.refused) == (asked, refused)


def test_an_interface_without_a_pool(threaded: Xla) -> None:
    pool = Pool(threaded, 8, None)
    threaded.api.struct_size -= 8
    pool.computed(threaded, LARGE)
    threaded.api.struct_size += 8
    assert pool.asked == 0
