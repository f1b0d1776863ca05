"""Verify and time everything that kinetree does on a graphics processor of NVIDIA.

    python benchmarks/gpu.py [--robots UR5,Panda] [--most 4194304] [--out report.json]

Each kernel's results are compared with those of this computer's processor, in numbers and in bits, then timed by the
device's own clock beside a copy of its memory; then arrays with strides, large angles, and the libraries that are
installed (PyTorch, CuPy, JAX, Numba). A machine with the device may have no LLVM: then a folder is prepared elsewhere,

    python benchmarks/gpu.py --prepare FOLDER          and there: python benchmarks/gpu.py --prepared FOLDER

which needs NumPy and kinetree's source alone.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import kinetree as kt
import timing  # noqa: F401  what is measured has been optimised
from kinetree.codegen.ptx.backend import PtxKernel, gather_text
from kinetree.compiler.compiled import IMPORTED
from kinetree.interop.cuda.arrays import DeviceArray
from kinetree.interop.cuda.device import LEGACY, Device, device
from kinetree.interop.cuda.function import CudaFunction
from kinetree.interop.cuda.launch import Launcher
from kinetree.interop.subject import Subject
from robots import ROBOTS

FUNCTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "aba": (kt.aba, {}),
    "aba in loops": (kt.aba, {"unroll": False}),
    "rnea": (kt.rnea, {}),
    "crba": (kt.crba, {}),
    "rollout of 10 steps": (kt.rollout, {"steps": 10}),
}
VARIANTS = [(64, 255), (256, 255), (128, 168), (128, 128), (128, 96)]
"""(threads in a block, registers) beside the usual (128, 255), for the first function."""
COUNT = 1025  # the samples that are verified; the last block is not full
SIZES = (4_097, 65_536, 1 << 20, 1 << 22)
LARGE = 1e7
"""An angle that takes the exact path."""


def arguments(robot: kt.Model, ports: Any) -> list[np.ndarray]:
    """Random arguments of a function, exact in float32."""
    rng = np.random.default_rng(0)
    q = robot.integrate(robot.neutral(), rng.normal(size=(COUNT, robot.nv)))
    rest = [rng.normal(size=(COUNT, *port.shape)) * (0.001 if port.name == "dt" else 1.0) for port in ports[1:]]
    return [x.astype(np.float32).astype(np.float64) for x in (q, *rest)]


def _turned(q: np.ndarray) -> np.ndarray:
    """A few configurations with an angle that takes the exact path."""
    turned = q[:8].copy()
    turned[:, -1] += LARGE
    return turned


# ---------------------------------------------------------------------------------------------------------- preparing


def file_of(kernel: PtxKernel, dtype: str) -> str:
    return f"{kernel._kernel.key(dtype).hex()[:32]}_{kernel.block}_{kernel._registers}.ptx"


def prepare(folder: Path, names: list[str]) -> None:
    """Write robots, arguments, results and kernels into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for size in (4, 8):
        (folder / f"gather_{size}.ptx").write_text(gather_text(size, IMPORTED))
    for robot_file in ROBOTS:
        if robot_file.name not in names:
            continue
        robot = kt.from_text(kt.to_text(robot_file.load()))
        (folder / f"{robot_file.name}.txt").write_text(kt.to_text(robot))
        for title, (function, options) in FUNCTIONS.items():
            for dtype in ("float32", "float64"):
                node = subject(robot, title).node(dtype)
                given = [x.astype(dtype) for x in arguments(robot, node.inputs)]
                start = time.perf_counter()
                result = kt.compile(robot, function, dtype=dtype, **options)(*given)
                shown = {f"x{k}": x for k, x in enumerate(given)}
                np.savez(folder / f"{robot_file.name} {title} {dtype}.npz", y=result, **shown)
                if (title, dtype) == ("aba", "float64"):
                    turned = _turned(given[0])
                    np.save(folder / f"{robot_file.name} turned.npy", kt.aba(robot, turned, given[1][:8], given[2][:8]))
                for block, registers in [(128, 255), *(VARIANTS if title == "aba" else [])]:
                    kernel = PtxKernel(node.kernel, block, registers)
                    (folder / file_of(kernel, dtype)).write_text(kernel.text())
                print(f"{robot_file.name} {title} {dtype}: {time.perf_counter() - start:.1f} s", flush=True)


def subject(robot: kt.Model, title: str) -> Subject:
    function, options = FUNCTIONS[title]
    own = {name: x for name, x in options.items() if name != "unroll"}
    return Subject(robot, function, unroll=options.get("unroll"), options=own)


# ------------------------------------------------------------------------------------------------------------- timing


def seconds(on: Device, start: Callable[[], object], rounds: int = 10, repeat: int = 10) -> float:
    """Median seconds of one start, by events on the device."""
    calls = on.calls
    events = [ctypes.c_void_p(calls.number("cuEventCreate", 0, kind=ctypes.c_void_p)) for _ in range(2)]
    stream = ctypes.c_void_p(LEGACY)
    start()
    found = []
    for _ in range(rounds):
        calls("cuEventRecord", events[0], stream)
        for _ in range(repeat):
            start()
        calls("cuEventRecord", events[1], stream)
        calls("cuEventSynchronize", events[1])
        span = ctypes.c_float()
        calls("cuEventElapsedTime", ctypes.byref(span), *events)
        found.append(span.value / 1e3 / repeat)
    for event in events:
        calls("cuEventDestroy_v2", event)
    return float(np.median(found))


def copy_rate(on: Device, size: int = 1 << 29) -> float:
    """Bytes per second read and written by a copy of the device's memory."""
    with on:
        a, b = on.allocate(size, LEGACY), on.allocate(size, LEGACY)
        to, source, count = ctypes.c_uint64(a), ctypes.c_uint64(b), ctypes.c_size_t(size)
        stream = ctypes.c_void_p(LEGACY)
        rate = 2 * size / seconds(on, lambda: on.calls("cuMemcpyDtoDAsync_v2", to, source, count, stream))
        on.free(a, LEGACY)
        on.free(b, LEGACY)
    return rate


def difference(found: np.ndarray, wanted: np.ndarray) -> dict[str, float]:
    """The largest difference relative to the largest number of its sample, and how many samples have equal bits."""
    a, b = found.reshape(len(found), -1).astype(np.float64), wanted.reshape(len(wanted), -1).astype(np.float64)
    scale = np.abs(b).max(axis=1) + np.finfo(float).tiny
    return {
        "error": float((np.abs(a - b).max(axis=1) / scale).max()),
        "equal": float((a == b).all(axis=1).mean()),
    }


def timed(launcher: Launcher, given: list[np.ndarray], most: int, copy: float) -> list[dict[str, float]]:
    """Times of launches for several batches, made of the same samples again and again."""
    on, node, found = launcher.device, launcher.node, []
    for count in (n for n in SIZES if n <= most):
        repeats = -(-count // COUNT)
        arrays = [np.tile(x, (repeats, *[1] * (x.ndim - 1)))[:count] for x in given]
        size = sum(port.size for port in (*node.inputs, *node.outputs)) * node.dtype.itemsize
        if size * count > 8 << 30:
            break
        with on:
            there = []
            for x in arrays:
                there.append(DeviceArray(on, x.shape, node.dtype, LEGACY))
                on.upload(np.ascontiguousarray(x), there[-1].view.pointer, LEGACY)
            on.synchronize(LEGACY)
            out = DeviceArray(on, (count, *node.outputs[0].shape), node.dtype, LEGACY)
            views = [x.view for x in there]
            took = seconds(on, lambda v=views, o=out, n=count: launcher(v, [o.view], (n,), LEGACY))  # type: ignore[misc]
        found.append(
            {"count": count, "seconds": took, "samples/s": count / took, "of copy": size * count / took / copy}
        )
    return found


# ---------------------------------------------------------------------------------------------------------- verifying


def kernels(on: Device, folder: Path, names: list[str], most: int, copy: float) -> Iterator[dict[str, Any]]:
    """Every function of every robot: right, and how quick."""
    for name in names:
        robot = kt.from_text((folder / f"{name}.txt").read_text())
        for title in FUNCTIONS:
            for dtype in ("float32", "float64"):
                data = np.load(folder / f"{name} {title} {dtype}.npz")
                given = [data[f"x{k}"] for k in range(len(data.files) - 1)]
                for block, registers in [(128, 255), *(VARIANTS if title == "aba" else [])]:
                    node = subject(robot, title).node(dtype)
                    vars(node)["ptx"] = PtxKernel(node.kernel, block, registers)
                    start = time.perf_counter()
                    launcher = Launcher(node, on)
                    loaded = time.perf_counter() - start
                    result = launched(launcher, given, data["y"].shape)
                    used, local = launcher.registers_and_memory
                    yield {
                        "kernel": f"{name} {title} {dtype}",
                        "block": block,
                        "registers": used,
                        "local bytes": local,
                        "seconds to load": round(loaded, 3),
                        **difference(result, data["y"]),
                        "times": timed(launcher, given, most, copy),
                    }


def launched(launcher: Launcher, given: list[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """A batch by a launcher, from this computer's memory and back."""
    on, node = launcher.device, launcher.node
    with on:
        there = []
        for x in given:
            there.append(DeviceArray(on, x.shape, node.dtype, LEGACY))
            on.upload(np.ascontiguousarray(x), there[-1].view.pointer, LEGACY)
        out = DeviceArray(on, shape, node.dtype, LEGACY)
        launcher([x.view for x in there], [out.view], shape[:1], LEGACY)
        return out.numpy()


def behaviour(folder: Path, name: str) -> Iterator[tuple[str, Any]]:
    """The overhead of a call."""
    robot = kt.from_text((folder / f"{name}.txt").read_text())
    data = np.load(folder / f"{name} aba float64.npz")
    given, wanted = [data[f"x{k}"] for k in range(3)], data["y"]
    f = kt.compile(robot, kt.aba, device="cuda")
    assert isinstance(f, CudaFunction)
    yield "NumPy's arrays", difference(f(*given), wanted)
    one = f(given[0], given[1][0], given[2][0])
    each = f(given[0], np.broadcast_to(given[1][0], given[1].shape), np.broadcast_to(given[2][0], given[2].shape))
    yield "one sample for all", bool((one == each).all())
    grid = f(given[0][:9, None], given[1][None, :5], given[2][0])
    yield "a grid, which is made contiguous first", bool((grid[3, 2] == f(given[0][3], given[1][2], given[2][0])).all())
    far = np.load(folder / f"{name} turned.npy")
    yield "angles of 1e7", difference(f(_turned(given[0]), given[1][:8], given[2][:8]), far)
    broken = given[0][:64].copy()
    broken[7] = np.nan
    found = f(broken, given[1][:64], given[2][:64])
    others = np.delete(found, 7, 0) == np.delete(f(given[0][:64], given[1][:64], given[2][:64]), 7, 0)
    yield "NaN stays in its sample", bool(np.isnan(found[7]).any() and others.all())


def libraries(folder: Path, name: str) -> Iterator[tuple[str, Any]]:
    """Arrays of the libraries that are installed: results, and what a call costs on this processor."""
    robot = kt.from_text((folder / f"{name}.txt").read_text())
    data = np.load(folder / f"{name} aba float32.npz")
    given, wanted = [data[f"x{k}"] for k in range(3)], data["y"]
    f = kt.compile(robot, kt.aba, dtype="float32", device="cuda")
    for library, (put, get) in _LIBRARIES.items():
        try:
            there = [put(x) for x in given]
            result = f(*there)
            about = difference(np.asarray(get(result)), wanted)
            start = time.perf_counter()
            for _ in range(1000):
                result = f(*there)
            about["microseconds to start"] = (time.perf_counter() - start) * 1e3
            get(result)
            yield library, about
        except Exception as error:  # what is not installed, or fails, is part of the report
            yield library, f"not run: {type(error).__name__}: {str(error)[:200]}"


def _torch(x: np.ndarray) -> Any:
    import torch

    return torch.tensor(x, device="cuda")


def _cupy(x: np.ndarray) -> Any:
    import cupy

    return cupy.asarray(x)


def _jax(x: np.ndarray) -> Any:
    import jax

    return jax.device_put(x, jax.devices("gpu")[0])


def _numba(x: np.ndarray) -> Any:
    from numba import cuda

    return cuda.to_device(x)


_LIBRARIES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "PyTorch": (_torch, lambda y: y.cpu().numpy()),
    "CuPy": (_cupy, lambda y: y.get()),
    "JAX": (_jax, np.asarray),
    "Numba": (_numba, lambda y: y.numpy()),
}


def report(folder: Path, names: list[str], most: int, out: str | None) -> None:
    """Run everything, print it, and write it down."""
    on = device(0)
    copy = copy_rate(on)
    about: dict[str, Any] = {"device": on.name, "capability": on.capability, "driver": on.calls.version, "copy": copy}
    print(about, flush=True)
    about["kernels"] = []
    with patch.object(PtxKernel, "text", lambda k: (folder / file_of(k, k._kernel.dtype.name)).read_text()):
        for row in kernels(on, folder, names, most, copy):
            about["kernels"].append(row)
            last = row["times"][-1] if row["times"] else {}
            print(
                f"{row['kernel']:34} block {row['block']:3} registers {row['registers']:3} "
                f"local {row['local bytes']:6} load {row['seconds to load']:5.2f} s "
                f"error {row['error']:.1e} equal {row['equal']:.3f} "
                f"{last.get('samples/s', 0) / 1e6:9.1f} M/s, {last.get('of copy', 0):.2f} of a copy",
                flush=True,
            )
        with patch("kinetree.interop.cuda.launch.gather_text", lambda size, _: _gather(folder, size)):
            for part in (behaviour, libraries):
                about[part.__name__] = dict(part(folder, names[0]))
                for title, found in about[part.__name__].items():
                    print(f"{title}: {found}", flush=True)
    if out:
        Path(out).write_text(json.dumps(about, indent=1, default=str))


def _gather(folder: Path, size: int) -> str:
    return (folder / f"gather_{size}.ptx").read_text()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", default=",".join(robot.name for robot in ROBOTS))
    parser.add_argument("--most", type=int, default=SIZES[-1], help="the largest batch that is timed")
    parser.add_argument("--out", help="a JSON file for the report")
    parser.add_argument("--prepare", help="only write this folder, for a machine with a device")
    parser.add_argument("--prepared", help="a folder that was prepared")
    options = parser.parse_args()
    names = options.robots.split(",")
    if options.prepare:
        prepare(Path(options.prepare), names)
        return
    try:
        device(0)
    except kt.errors.DeviceError as error:
        print(f"There is no GPU here, so nothing was verified or timed: {error}.")
        return
    if options.prepared:
        report(Path(options.prepared), names, options.most, options.out)
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder), names)
        report(Path(folder), names, options.most, options.out)


if __name__ == "__main__":
    main()
