"""Bytes that are nearly files, by the million: only kinetree's own errors may come out of a reader.

    python benchmarks/fuzz_readers.py urdf --inputs 1000000
    python benchmarks/fuzz_readers.py studies

Inputs are made of seeds: real files and the files of the tests' corpus are cut, joined, and changed in single bytes,
in numbers, words and whole elements. One input in twenty runs with a trace of the lines it reaches; those that reach
new ones become seeds, too. An input that brings out any other error, or takes more than five seconds of a processor or
1 GiB of memory, is saved and named. Each file of a study, of a streamed motion and of a bag is changed among the others
as they were written.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import kinetree as kt
from kinetree import own_process
from kinetree.appearance import mesh_files
from kinetree.number_files import joint_states

ROOT = Path(__file__).parents[1]
ENDINGS = {"urdf": ".urdf", "sdf": ".sdf", "mjcf": ".xml", "text": ".json"}
STARTS = {"urdf": b"<robot", "sdf": b"<sdf", "mjcf": b"<mujoco", "text": b"{"}
NASTY = (
    b"", b"0", b"-1", b"1e308", b"-1e999", b"1e-320", b"nan", b"inf", b"0 0 0", b"9" * 40, b"\0", b"\xff", b"&amp;",
    b"<!--", b"]]>", b"<!DOCTYPE a>", b"true", b"null", b"[]", b"{}", b"\xed\xa0\x80", b"world", b"../../x",
    b"/dev/zero",
)  # fmt: skip
OTHERS = ("studies", "logs", "meshes")
ROOMS = ("io", "model", "sweeps", "sim", "number_files", "identification", "appearance", "files.py")
SECONDS = 5.0
MEMORY = 2**30
TRACED = 20
LARGEST = 32_768
SOUND = 0.7
"""The part of the inputs that are made of robots."""


class Seed(NamedTuple):
    """A file among others, which a reader reads."""

    data: bytes
    folder: Path
    file: str
    read: Callable[[Path], object]


def seeds(format_: str) -> list[bytes]:
    """Robot files to take parts of."""
    from tests.io.corpus import cases

    files = [
        data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
        for case in cases().values()
        for path, data in case.files.items()
        if not path.endswith(("@", "|"))
    ]
    return [data for data in files if STARTS[format_] in data[:400] and len(data) < LARGEST]


def robot_seeds(format_: str, read: Callable[[Path], object], place: Path) -> list[Seed]:
    """Files that are robots, of which most inputs are made, so that they get past the first check."""
    from tests.checking.planted import SOUND as SOUND_URDF
    from tests.io.arm import ARM
    from tests.io.bad_mjcf import SOUND as SOUND_MJCF
    from tests.io.sdf.robots import BESIDE, ROBOTS

    zoo = [kt.zoo.load(name) for name in ("double_pendulum", "cart_pole", "arm6")]
    texts = {
        "mjcf": SOUND_MJCF,
        "urdf": [ARM, SOUND_URDF, kt.zoo.path("arm6").read_text()],
        "sdf": [*ROBOTS.values(), *(kt.to_text(robot, "sdf") for robot in zoo)],
        "text": [kt.to_text(robot) for robot in zoo],
    }
    place.mkdir()
    for name, text in BESIDE.items() if format_ == "sdf" else ():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text)
    return [Seed(text.encode(), place, f"fuzz{ENDINGS[format_]}", read) for text in texts[format_]]


def other_seeds(format_: str, place: Path) -> list[Seed]:
    """Studies, motions, logs or meshes, one seed for each of their files."""
    from tests.io import file_kinds

    kinds = file_kinds.KINDS
    names = list(kinds)
    if format_ == "studies":
        chosen = [kinds[name] for name in names[names.index("study.json") : names.index("snapshot") + 1]]
    elif format_ == "logs":
        named = ("log", "torques", "commands", "MCAP", "bag", "metadata")
        chosen = [kind for name, kind in kinds.items() if name.startswith(named)]
    else:
        chosen = [*(kinds[name] for name in names[names.index("STL") : names.index("PLY")]), *_meshes()]
    found = []
    for k, kind in enumerate(chosen):
        (place / str(k)).mkdir(parents=True)
        path = kind.make(place / str(k))
        with suppress(kt.KinetreeError):  # some have to be refused
            kind.read(path)
        found.append(Seed(path.read_bytes(), place / str(k), str(path.relative_to(place / str(k))), kind.read))
    return found


def _meshes() -> Iterator[Any]:
    """Meshes with colours, and those of trimesh's formats that are installed."""
    import trimesh
    from tests.io.file_kinds import Kind
    from tests.unit.appearance import files

    def read(path: Path) -> object:
        return mesh_files.file_mesh(path.with_name("part.obj") if path.suffix == ".mtl" else path, 1000)

    def exported(kind: str, name: str, folder: Path) -> Path:
        box = trimesh.creation.box()
        box.visual.vertex_colors = [[255, 0, 0, 255]] * 8
        data = box.export(file_type=kind)
        for file, content in (data if isinstance(data, dict) else {name: data}).items():
            (folder / file).write_bytes(content.encode() if isinstance(content, str) else content)
        return folder / name

    yield Kind(lambda folder: files.write_obj(folder / "part.obj"), read)
    yield Kind(lambda folder: files.write_obj(folder / "part.obj").with_name("colors.mtl"), read)
    yield Kind(lambda folder: files.write_dae(folder / "part.dae"), read)
    yield Kind(lambda folder: files.write_stl_text(folder / "part.stl"), read)
    for kind in ("ply", "off", "glb", *(("3mf",) if find_spec("lxml") else ())):
        yield Kind(partial(exported, kind, f"part.{kind}"), read)
    for name in ("model.gltf", "gltf_buffer_0.bin"):
        yield Kind(partial(exported, "gltf", name), lambda path: read(path.with_name("model.gltf")))


def _forked(function: str, *arguments: Any, seconds: float, memory: int, most: int) -> tuple[Any, bytes]:
    """As `called_apart`, by a copy of this process, which begins at once."""
    back, to = os.pipe()
    if (process := os.fork()) == 0:
        with os.fdopen(to, "wb") as stream:
            stream.write(own_process._answer_to(function, list(arguments), seconds, memory))
        os._exit(0)
    os.close(to)
    with os.fdopen(back, "rb") as stream:
        answer = stream.read()
    _, status = os.waitpid(process, 0)
    if status or len(answer) > most + 2**20:
        raise own_process.OwnProcessError(f"its process ended with status {status}")
    return own_process._returned(answer)


def mutated(data: bytes, pool: list[bytes], rng: random.Random) -> bytes:
    """The data after one to six changes."""
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        data = rng.choice(CHANGES)(data, pool, rng)
    return data[:LARGEST]


def _byte(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    k = rng.randrange(len(data) + 1)
    return data[:k] + bytes([rng.randrange(256)]) + data[k + rng.randrange(2) :]


def _cut(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    a, b = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:a] + data[min(b, a + 200) :]


def _piece(data: bytes, pool: list[bytes], rng: random.Random) -> bytes:
    """A word, number or tag replaced by one of another seed, or by something nasty."""
    found = list(re.finditer(rb'"[^"]*"|<[^>]*>|[\w.+-]+', data))
    if not found:
        return data
    place = rng.choice(found)
    other = re.findall(rb'"[^"]*"|<[^>]*>|[\w.+-]+', rng.choice(pool))
    new = rng.choice(other) if other and rng.random() < 0.6 else rng.choice(NASTY)
    if place[0][:1] == b'"' and new[:1] != b'"':
        new = b'"' + new + b'"'
    return data[: place.start()] + new + data[place.end() :]


def _repeat(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    a = rng.randrange(len(data) + 1)
    b = min(len(data), a + rng.randrange(1, 300))
    return data[:b] + data[a:b] * rng.choice((1, 1, 2, 20)) + data[b:]


def _splice(data: bytes, pool: list[bytes], rng: random.Random) -> bytes:
    other = rng.choice(pool)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


CHANGES: tuple[Callable[[bytes, list[bytes], random.Random], bytes], ...] = (
    _byte, _byte, _cut, _piece, _piece, _piece, _repeat, _splice,
)  # fmt: skip


class Lines:
    """The lines of kinetree that inputs have reached."""

    def __init__(self) -> None:
        self.reached: set[tuple[str, int]] = set()

    def new(self, call: Callable[[], object]) -> bool:
        """Whether a call reaches new lines."""
        before = len(self.reached)
        sys.settrace(self._trace)
        try:
            call()
        finally:
            sys.settrace(None)
        return len(self.reached) > before

    def _trace(self, frame: FrameType, event: str, _: Any) -> Any:
        file = frame.f_code.co_filename
        if not any(f"kinetree/{room}" in file for room in ROOMS):
            return None
        if event == "line":
            self.reached.add((file, frame.f_lineno))
        return self._trace


class TakesTooLong(BaseException):
    """An input that takes too much of a processor's time."""


def _too_long(*_: object) -> None:
    raise TakesTooLong(f"it took more than {SECONDS:g} seconds")


def _limit(seconds: float, memory: int) -> None:
    """Bound the time and the memory that this process takes from now on."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + memory, resource.RLIM_INFINITY))
    signal.setitimer(signal.ITIMER_PROF, seconds)


def fuzz(format_: str, inputs: int, seed: int, read: Callable[[Path], object], place: Path) -> int:
    """Run the inputs; return the number of faults."""
    warnings.simplefilter("ignore")
    logging.disable()
    rng = random.Random(seed)
    sound = other_seeds(format_, place / "seeds") if format_ in OTHERS else robot_seeds(format_, read, place / "seeds")
    pool = seeds(format_) if format_ in ENDINGS else []
    pool += [one.data for one in sound]
    lines = Lines()
    faults = refused = 0
    signal.signal(signal.SIGPROF, _too_long)
    start = time.perf_counter()
    for k in range(inputs):
        chosen = rng.choice(sound)
        data = mutated(chosen.data if format_ in OTHERS or rng.random() < SOUND else rng.choice(pool), pool, rng)
        folder = place / "input"
        shutil.copytree(chosen.folder, folder)
        (folder / chosen.file).write_bytes(data)

        def one(chosen: Seed = chosen, folder: Path = folder) -> None:
            nonlocal refused
            try:
                chosen.read(folder / chosen.file)
            except kt.KinetreeError:
                refused += 1

        wrong = ""
        try:
            _limit(SECONDS * (10 if k % TRACED == 0 else 1), MEMORY)
            if k % TRACED:
                one()
            elif lines.new(one):
                pool.append(data)
                sound.append(chosen._replace(data=data))
        except (Exception, TakesTooLong):
            wrong = traceback.format_exc()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        if wrong:
            faults += 1
            kept = Path(f"fault_{format_}_{seed}_{k}_{Path(chosen.file).name}")
            kept.write_bytes(data)
            print(f"{kept}: {chosen.file}: {wrong}", flush=True)
        shutil.rmtree(folder)
        if (k + 1) % max(1, inputs // 10) == 0:
            rate = (k + 1) / (time.perf_counter() - start)
            counts = f"{k + 1:,} inputs, {rate:.0f} per second, {refused:,} refused, {len(pool):,} seeds"
            print(f"{format_}: {counts}, {len(lines.reached):,} lines, {faults} faults", flush=True)
    return faults


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("format", choices=(*ENDINGS, *OTHERS))
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--check", action="store_true", help="Run kt.check on robot files instead of kt.load.")
    parser.add_argument("--repair", action="store_true", help="Load robot files with repair=True.")
    given = parser.parse_args()
    read = kt.check if given.check else partial(kt.load, repair=given.repair)
    sys.path.insert(0, str(ROOT))
    mesh_files.user_cache = lambda: None  # type: ignore[attr-defined, assignment]
    joint_states.called_apart = _forked  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory() as place:
        sys.exit(1 if fuzz(given.format, given.inputs, given.seed, read, Path(place)) else 0)


if __name__ == "__main__":
    main()
