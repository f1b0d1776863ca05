"""Bytes that are nearly robot files, by the million: only `ModelError` may come out of a reader.

    python benchmarks/fuzz_readers.py urdf --inputs 1000000

Inputs are made of seeds: real files and the files of the tests' corpus are cut, joined, and changed in single bytes,
in numbers, words and whole elements. One input in twenty runs with a trace of the lines it reaches; those that reach
new ones become seeds, too. An input that brings out any other error, or takes more than five seconds, is saved and
named.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import kinetree as kt

ROOT = Path(__file__).parents[1]
ENDINGS = {"urdf": ".urdf", "sdf": ".sdf", "mjcf": ".xml", "text": ".json"}
STARTS = {"urdf": b"<robot", "sdf": b"<sdf", "mjcf": b"<mujoco", "text": b"{"}
NASTY = (
    b"", b"0", b"-1", b"1e308", b"-1e999", b"1e-320", b"nan", b"inf", b"0 0 0", b"9" * 40, b"\0", b"\xff", b"&amp;",
    b"<!--", b"]]>", b"<!DOCTYPE a>", b"true", b"null", b"[]", b"{}", b"\xed\xa0\x80", b"world", b"../../x",
    b"/dev/zero",
)  # fmt: skip
SECONDS = 5.0
TRACED = 20
LARGEST = 20_000
SOUND = 0.7
"""The part of the inputs that are made of robots."""


def seeds(format_: str) -> list[bytes]:
    """Files to begin with."""
    sys.path.insert(0, str(ROOT))
    from tests.io.corpus import cases

    found = [
        data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
        for case in cases().values()
        for path, data in case.files.items()
        if not path.endswith(("@", "|"))
    ]
    return [data for data in found if STARTS[format_] in data[:400] and len(data) < LARGEST]


def sound_seeds(format_: str) -> list[bytes]:
    """Files that are robots, of which most inputs are made, so that they get past the first check."""
    from tests.checking.planted import SOUND as SOUND_URDF
    from tests.io.arm import ARM
    from tests.io.bad_mjcf import SOUND as SOUND_MJCF

    if format_ == "mjcf":
        return [text.encode() for text in SOUND_MJCF]
    if format_ == "urdf":
        return [ARM.encode(), SOUND_URDF.encode(), kt.zoo.path("arm6").read_bytes()]
    robots = [kt.zoo.load(name) for name in ("double_pendulum", "cart_pole", "arm6")]
    return [(kt.to_text(robot, "sdf") if format_ == "sdf" else kt.to_text(robot)).encode() for robot in robots]


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
        if "kinetree/io" not in file and "kinetree/model" not in file:
            return None
        if event == "line":
            self.reached.add((file, frame.f_lineno))
        return self._trace


def fuzz(format_: str, inputs: int, seed: int, *, check: bool) -> int:
    """Run the inputs; return the number of faults."""
    warnings.simplefilter("ignore")
    rng = random.Random(seed)
    pool = seeds(format_)
    sound = sound_seeds(format_)
    lines = Lines()
    faults = refused = 0
    read = kt.check if check else kt.load
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"fuzz{ENDINGS[format_]}"

        def one() -> None:
            nonlocal refused
            try:
                read(path)
            except kt.ModelError:
                refused += 1

        start = time.perf_counter()
        for k in range(inputs):
            data = mutated(rng.choice(sound if rng.random() < SOUND else pool), pool, rng)
            path.write_bytes(data)
            begin = time.perf_counter()
            try:
                if k % TRACED == 0:
                    if lines.new(one):
                        pool.append(data)
                else:
                    one()
                wrong = "" if time.perf_counter() - begin < SECONDS else "it took more than five seconds"
            except Exception:
                wrong = traceback.format_exc()
            if wrong:
                faults += 1
                kept = Path(f"fault_{format_}_{seed}_{k}{ENDINGS[format_]}")
                kept.write_bytes(data)
                print(f"{kept}: {wrong}", flush=True)
            if (k + 1) % max(1, inputs // 10) == 0:
                rate = (k + 1) / (time.perf_counter() - start)
                told = f"{k + 1:,} inputs, {rate:.0f} per second, {refused:,} refused, {len(pool):,} seeds"
                print(f"{format_}: {told}, {len(lines.reached):,} lines, {faults} faults", flush=True)
    return faults


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("format", choices=ENDINGS)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--check", action="store_true", help="Run kt.check instead of kt.load.")
    given = parser.parse_args()
    sys.exit(1 if fuzz(given.format, given.inputs, given.seed, check=given.check) else 0)


if __name__ == "__main__":
    main()
