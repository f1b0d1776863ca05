"""Files made to keep a reader busy: any of 16 MB is read or refused in 5 s of work and 1 GB of memory.

Of those that a reader has to go through, the worst are of that size. The others are smaller, and have as much less time
and memory: work that grows faster than a file does not keep to that, either.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

import kinetree as kt
from tests.io.arm import write

MEGABYTE = 2**20
SIZE = 16 * MEGABYTE
SECONDS = 5.0
LENIENCE = 4.0
"""The promise is for a machine that does nothing else; the one that runs the tests may be busy or slow."""
GIGABYTES = 1.0
AT_LEAST = 0.1
"""Of that time and memory, for small files: an interpreter with what it imports has tens of megabytes by itself."""

# Each file has a process of its own, so that the memory is this file's alone: a copy of one that has read a small
# file, since to start an interpreter takes longer than most files do. `ru_maxrss` would be the parent's, if that has
# had more. The time is that of the processor: other programs on the machine do not count.
READER = """
import json, os, re, sys, time, warnings
import kinetree as kt
warnings.simplefilter("ignore")

def read(path):
    start = time.process_time()
    try:
        answer = f"read: {len(kt.load(path).bodies)} bodies"
    except kt.errors.ModelError as error:
        answer = f"refused: {error}"
    seconds = time.process_time() - start
    (kilobytes,) = re.findall(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())
    return [seconds, int(kilobytes) / 2**20, answer]

read(sys.argv[1])
for line in sys.stdin:
    if os.fork() == 0:
        print(json.dumps(read(line.rstrip("\\n"))), flush=True)
        os._exit(0)
    print(os.wait()[1], flush=True)
"""
Answer = tuple[float, float, str]
"""Seconds, gigabytes and what is said."""


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], Answer]]:
    small = write(tmp_path_factory.mktemp("small"), b"<robot name='r'><link name='a'/></robot>")
    with subprocess.Popen(
        [sys.executable, "-c", READER, small], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        to, back = process.stdin, process.stdout
        assert to is not None
        assert back is not None

        def answer(path: Path) -> Answer:
            print(path, file=to, flush=True)
            seconds, gigabytes, said = json.loads(back.readline())
            assert int(back.readline()) == 0
            return seconds, gigabytes, said

        yield answer
        to.close()
    assert process.returncode == 0


def _filled(
    make: Callable[[int], str], start: str = "<robot name='r'>", end: str = "</robot>", megabytes: int = 16
) -> bytes:
    """As many pieces as fit into the size."""
    pieces = [start]
    room = megabytes * MEGABYTE - len(start) - len(end)
    for i in count():
        piece = make(i)
        room -= len(piece)
        if room < 0:
            return ("".join(pieces) + end).encode()
        pieces.append(piece)
    raise AssertionError


def _full(i: int) -> str:
    return (
        f'<link name="l{i}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
        "</inertial></link>"
    )


def _point(i: int) -> str:
    return _full(i).replace('"1" ', '"0" ').replace('izz="1"', 'izz="0"')


def _joint(i: int, parent: int, child: int) -> str:
    return f'<joint name="j{i}" type="continuous"><parent link="l{parent}"/><child link="l{child}"/></joint>'


BASE = '<robot name="r"><link name="l0"/>'
SHAPE = '<visual><origin xyz="1 2 3" rpy="1 2 3"/><geometry><box size="1 1 1"/></geometry></visual>'
MESH = '<visual><geometry><mesh filename="a/b/../{}.stl"/></geometry></visual>'

HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "one giant attribute": (lambda: b"<robot name='" + b"x" * (SIZE - 16) + b"'/>", "one tag or text here is 16,"),
    "one giant text": (lambda: b"\n<robot>" + b"x" * (SIZE - 20) + b"</robot>", "refused: {}:2: one tag or text"),
    "a million attributes": (lambda: _filled(lambda i: f"a{i}='' ", "<robot ", "/>"), "one tag or text here is 16,"),
    "many attributes on each element": (
        lambda: _filled(lambda _: "<link name='l' " + " ".join(f"a{k}=''" for k in range(60_000)) + "/>", megabytes=2),
        "there are two bodies named 'l'",
    ),
    "blank lines": (lambda: b"\n" * (SIZE - 9) + b"<robot/>", "one tag or text here is 16,"),
    "deep nesting": (lambda: b"<robot>" + b"<link>" * 1_200_000, "more than 500 deep"),
    "deep data": (lambda: b"<robot><gazebo>" + b"<a>" * 400 + b"</a>" * 400 + b"</gazebo></robot>", "nested more than"),
    "a million elements of data": (
        lambda: b"<robot><gazebo>" + b"<a/>" * 1_400_000 + b"</gazebo></robot>", "more than 200,000 elements inside"
    ),
    "many simulators": (lambda: b"<robot>" + b"<gazebo/>" * 250_000 + b"</robot>", "for simulators; the limit"),
    "four million tiny elements": (lambda: _filled(lambda _: "<a/>"), "tags; the limit is 1,500,000"),
    "tiny elements that are skipped": (lambda: _filled(lambda i: f"<a{i}/>        ", megabytes=2), "has no bodies"),
    "a million tiny elements that are kept": (
        lambda: b"<robot><link name='a'>" + b"<visual/>" * 1_499_000 + b"</link></robot>",
        "shapes; the limit is 150,000",
    ),
    "a comment full of tags": (lambda: b"<robot><!--" + b"<" * (SIZE - 30) + b"--></robot>", "tags; the limit"),
    "an open comment": (lambda: b"<robot><!--" + b"<  " * 1_400_000, "the file ends inside <robot>"),
    "entities by the thousand": (
        lambda: _filled(lambda i: f'<!ENTITY e{i} "&e;&e;&e;">', "<!DOCTYPE r [", "]><robot/>"), "remove it"
    ),
    "only links": (
        lambda: _filled(lambda i: f'<link name="{i}"/>', megabytes=6), "links and joints; the limit is 220,000"
    ),
    "only materials": (lambda: _filled(lambda i: f'<material name="{i}"/>', megabytes=2), "has no bodies"),
    "attributes nobody knows": (
        lambda: _filled(lambda i: f'<link name="l{i}" a{i}="" b{i}=""/>', megabytes=10),
        "the limit is 220,000",
    ),
    "a chain": (lambda: _filled(lambda i: _full(i + 1) + _joint(i, i, i + 1), BASE, megabytes=2), "read: 9"),
    "a chain of points": (
        lambda: _filled(lambda i: _point(i + 1) + _joint(i, i, i + 1), BASE, megabytes=3),
        "moving bodies with an inertia that is not positive definite",
    ),
    "children of one link": (
        lambda: _filled(lambda i: _full(i + 1) + _joint(i, 0, i + 1), BASE, megabytes=2), "read: 10"
    ),
    "a circle": (
        lambda: b'<robot name="r"><link name="r"/>' + "".join(
            f'<link name="l{i}"/>' + _joint(i, i, (i + 1) % 15_000) for i in range(15_000)
        ).encode() + b"</robot>",
        "its joints run in a circle",
    ),
    "a parent that is misspelt among many": (
        lambda: b'<robot name="r"><link name="l0"/>' + "".join(
            f'<link name="l{i + 1}"/>' + _joint(i, 0, i + 1) for i in range(15_000)
        ).encode() + _joint(100_000, 100_000, 1).encode() + b"</robot>",
        "none of the 15001 is called that",
    ),
    "shapes": (
        lambda: _filled(lambda _: SHAPE, BASE.replace("/>", ">"), "</link></robot>", megabytes=7),
        "with a rotation; the limit is 60,000",
    ),
    "meshes": (
        lambda: _filled(lambda i: MESH.format(i), BASE.replace("/>", ">"), "</link></robot>", megabytes=12),
        "shapes; the limit is 150,000",
    ),
}  # fmt: skip


LONG = ("a million tiny elements that are kept", "attributes nobody knows")
"""Files that take the longest; of each of their kind there is a shorter one."""


@pytest.mark.parametrize(
    ("make", "answer"),
    [pytest.param(*case, id=name, marks=pytest.mark.deep if name in LONG else ()) for name, case in HOSTILE.items()],
)
def test_a_hostile_file_is_read_or_refused_quickly(
    make: Callable[[], bytes], answer: str, tmp_path: Path, read: Callable[[Path], Answer]
) -> None:
    data = make()
    assert len(data) <= SIZE
    path = write(tmp_path, data)
    seconds, gigabytes, said = read(path)
    assert answer.format(path) in said
    share = AT_LEAST + (1.0 - AT_LEAST) * len(data) / SIZE
    assert seconds < LENIENCE * share * SECONDS
    assert gigabytes < share * GIGABYTES
    print(seconds, gigabytes, len(data) / 2**20, share)
    path.unlink()


def test_a_file_above_32_mebibytes_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "huge.urdf"
    with path.open("wb") as file:
        file.truncate(33 * 2**20)
    with pytest.raises(kt.errors.ModelError, match="the file is larger than 32 MiB"):
        kt.load(path)
