"""Every reader takes time in proportion to its input, whatever element is repeated.

Measured is the processor's time at n and at 4 n: four times as long if it is linear, sixteen times if it is quadratic.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.cli.input_file import read_torques

MOST = 9.0
TRIES = 12


def seconds(work: Callable[[], object]) -> float:
    """Of the processor; a file may be refused."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with suppress(kt.KinetreeError):
            work()
    return time.process_time() - start


def check(prepare: Callable[[int], Callable[[], object]], n: int) -> None:
    """Raise unless 4 n take less than nine times as long as n, in the best of a few tries each."""
    small, large = prepare(n), prepare(4 * n)
    one = four = float("inf")
    for _ in range(TRIES):
        one, four = min(one, seconds(small)), min(four, seconds(large))
        if four < MOST * one:
            return
    pytest.fail(f"{n}: {one:.3f} s, {4 * n}: {four:.3f} s, {four / one:.1f} times as long")


# -- the text form


BODY = {"mass": 1.0, "inertia": [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]}
UP = {"position": [0.0, 0.0, 1.0]}
BOX = {"role": "visual", "shape": "box", "size": [1.0, 1.0, 1.0]}


def text_of(**fields: Any) -> str:
    head = {"kinetree": "model", "version": 1, "name": "r", "gravity": [0, 0, -9.81], "floating_base": False}
    return json.dumps({**head, "bodies": [{"name": "b0"}], "joints": [], **fields})


def star(n: int, **more: Any) -> dict[str, Any]:
    """n joints on one body."""
    return {
        "bodies": [{"name": "b0"}, *({"name": f"b{k + 1}", **BODY} for k in range(n))],
        "joints": [
            {"name": f"j{k}", "kind": {"Revolute": {"axis": [0, 0, 1]}}, "parent": "b0", "child": f"b{k + 1}", **more}
            for k in range(n)
        ],
    }


def chain(n: int) -> dict[str, Any]:
    found = star(n)
    for k, joint in enumerate(found["joints"]):
        joint["parent"] = f"b{k}"
    return found


def followers(n: int, *, of_one: bool) -> dict[str, Any]:
    found = star(n)
    for k, joint in enumerate(found["joints"][1:]):
        joint["mimic"] = {"joint": "j0" if of_one else f"j{k}"}
    return found


def coupled(n: int) -> dict[str, Any]:
    return star(2 * n) | {
        "couplings": [
            {"name": f"c{k}", "joints": [f"j{2 * k}", f"j{2 * k + 1}"], "matrix": [[1], [1]], "coordinates": ["z"]}
            for k in range(n)
        ]
    }


def kinds(n: int) -> dict[str, Any]:
    """Each another one."""
    found = star(n)
    for k, joint in enumerate(found["joints"]):
        joint["kind"] = {"Helical": {"axis": [0, 0, 1], "pitch": 0.001 * (k + 1)}}
    return found


def composite(n: int) -> dict[str, Any]:
    parts = [[{"kind": {"Revolute": {"axis": [0, 0, 1]}}}, {"Transform": {}}]] * n
    return star(1) | {"joints": [star(1)["joints"][0] | {"kind": {"Composite": {"parts": parts}}}]}


def repeated_key(n: int, place: str) -> str:
    keys = ", ".join(f'"k{k}": 0' for k in range(n))
    text = f'{{{keys}, "k{n - 1}": 1}}'
    return text if place == "top" else f'{{"kinetree": "model", "version": 1, "bodies": [{text}]}}'


TEXTS: dict[str, tuple[Callable[[int], str], int]] = {
    "bodies without joints": (lambda n: text_of(bodies=star(n)["bodies"]), 2000),
    "joints of one body": (lambda n: text_of(**star(n)), 300),
    "a chain": (lambda n: text_of(**chain(n)), 300),
    "joints of one name": (lambda n: text_of(**star(n) | {"joints": [star(1)["joints"][0]] * n}), 2000),
    "bodies of one name": (lambda n: text_of(bodies=[{"name": "b"}] * n), 20_000),
    "a body of one name at the end": (
        lambda n: text_of(bodies=[*star(n)["bodies"], {"name": "b0"}]), 3000
    ),
    "parents that are not there": (lambda n: text_of(**star(n) | {"bodies": [{"name": "b0"}]}), 600),
    "limits, damping and rotors": (
        lambda n: text_of(
            **star(n, limits={"lower": [-1], "upper": [1]}, damping=[1], rotor={"inertia": 0.1, "ratio": 2})
        ), 300
    ),
    "placements": (lambda n: text_of(**star(n, placement={"position": [1, 2, 3]})), 300),
    "kinds": (lambda n: text_of(**kinds(n)), 100),
    "parts of a kind": (lambda n: text_of(**composite(n)), 30),
    "followers of one": (lambda n: text_of(**followers(n, of_one=True)), 250),
    "followers of followers": (lambda n: text_of(**followers(n, of_one=False)), 250),
    "couplings": (lambda n: text_of(**coupled(n)), 100),
    "shapes": (lambda n: text_of(bodies=[{"name": "b0", "geometry": [BOX] * n}]), 1000),
    "frames": (
        lambda n: text_of(frames=[{"name": f"f{k}", "body": "b0", "placement": UP} for k in range(n)]),
        1000,
    ),
    "frames of bodies that are not there": (
        lambda n: text_of(frames=[{"name": f"f{k}", "body": f"x{k}"} for k in range(n)]), 2000
    ),
    "notes": (lambda n: text_of(notes=[f"note {k}" for k in range(n)]), 10_000),
    "suspicious bodies": (
        lambda n: text_of(**star(n) | {"bodies": [b | {"inertia": [9, 1, 1, 0, 0, 0]} for b in star(n)["bodies"]]}), 300
    ),
    "keys": (lambda n: json.dumps({f"k{k}": 0 for k in range(n)}), 20_000),
    "unknown fields of a robot": (lambda n: text_of(**{f"k{k}": 0 for k in range(n)}), 20_000),
    "unknown fields of a body": (lambda n: text_of(bodies=[{"name": "b"} | {f"k{k}": 0 for k in range(n)}]), 20_000),
    "a key twice among many": (lambda n: repeated_key(n, "top"), 10_000),
    "a key of a body twice among many": (lambda n: repeated_key(n, "body"), 10_000),
    "objects with a key twice": (lambda n: '{"a": [' + '{"b": 0}, ' * n + '{"b": 0, "b": 0}]}', 20_000),
    "deep nesting": (lambda n: "[" * n, 100_000),
    "deep nesting that ends": (lambda n: '{"kinetree": ' + "[" * n + "]" * n + "}", 100_000),
    "numbers": (lambda n: text_of(bodies=[{"name": "b", "inertia": [1.5] * n}]), 50_000),
    "numbers that are too long": (lambda n: '{"kinetree": ' + "1" * n + "}", 1_000_000),
    "a long name": (lambda n: text_of(bodies=[{"name": "x" * n}]), 1_000_000),
    "a long unknown field": (lambda n: text_of(**{"x" * n: 0}), 1_000_000),
    "a long kind": (lambda n: text_of(**star(1) | {"joints": [star(1)["joints"][0] | {"kind": "K" * n}]}), 300_000),
    "blanks": (lambda n: " " * n + text_of(), 2_000_000),
}  # fmt: skip


@pytest.mark.parametrize(("make", "n"), TEXTS.values(), ids=TEXTS)
def test_a_text_is_read_in_proportion_to_its_length(make: Callable[[int], str], n: int) -> None:
    def prepare(count: int) -> Callable[[], object]:
        text = make(count)
        return lambda: kt.from_text(text)

    check(prepare, n)


# -- URDF


def link(k: object, inside: str = "") -> str:
    inertia = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    return f'<link name="l{k}"><inertial><mass value="1"/>{inertia}</inertial>{inside}</link>'


def joint(k: object, parent: object, child: object, inside: str = "") -> str:
    ends = f'<parent link="l{parent}"/><child link="l{child}"/>'
    return f'<joint name="j{k}" type="continuous">{ends}<axis xyz="0 0 1"/>{inside}</joint>'


def attributes(n: int) -> str:
    return " ".join(f'a{k}=""' for k in range(n))


def many(make: Callable[[int], str], first: str = "") -> Callable[[int], str]:
    return lambda n: f'<robot name="r">{first}{"".join(map(make, range(n)))}</robot>'


def inside_one(make: Callable[[int], str]) -> Callable[[int], str]:
    return lambda n: f'<robot name="r">{link(0, "".join(map(make, range(n))))}</robot>'


RED = '<color rgba="1 0 0 1"/>'
GEOMETRY = '<geometry><box size="1 1 1"/></geometry>'
URDFS: dict[str, tuple[Callable[[int], str], int]] = {
    "joints of one link": (many(lambda k: link(k + 1) + joint(k, 0, k + 1), link(0)), 300),
    "a chain": (many(lambda k: link(k + 1) + joint(k, k, k + 1), link(0)), 300),
    "links without joints": (many(link), 1000),
    "links of one name": (many(lambda _: link(0)), 1000),
    "a link of one name at the end": (lambda n: many(link)(n).replace("</robot>", link(0) + "</robot>"), 1000),
    "joints of one name": (many(lambda k: link(k + 1) + joint(0, 0, k + 1), link(0)), 500),
    "parents that are not there": (many(lambda k: link(k + 1) + joint(k, f"x{k}", k + 1), link(0)), 300),
    "materials": (many(lambda k: f'<material name="m{k}"><color rgba="1 0 0 1"/></material>', link(0)), 2000),
    "materials of one name": (
        many(lambda k: f'<material name="m"><color rgba="{k} 0 0 1"/></material>', link(0)), 2000
    ),
    "materials inside shapes": (
        inside_one(lambda k: f'<visual>{GEOMETRY}<material name="m{k}">{RED}</material></visual>'), 600
    ),
    "materials that are not defined": (
        inside_one(lambda k: f'<visual>{GEOMETRY}<material name="m{k}"/></visual>'), 600
    ),
    "visuals": (inside_one(lambda _: f"<visual>{GEOMETRY}</visual>"), 800),
    "collisions": (inside_one(lambda _: f"<collision>{GEOMETRY}</collision>"), 800),
    "meshes": (inside_one(lambda k: f'<visual><geometry><mesh filename="m{k}.stl"/></geometry></visual>'), 400),
    "followers of one": (
        many(lambda k: link(k + 1) + joint(k, 0, k + 1, '<mimic joint="j0"/>' if k else ""), link(0)), 250
    ),
    "followers of followers": (
        many(lambda k: link(k + 1) + joint(k, 0, k + 1, f'<mimic joint="j{k - 1}"/>' if k else ""), link(0)), 250
    ),
    "fixed joints in a row": (
        many(lambda k: link(k + 1) + joint(k, k, k + 1).replace("continuous", "fixed"), link(0)), 300
    ),
    "notes": (many(lambda k: link(k + 1) + joint(k, 0, k + 1).replace('"0 0 1"', '"0 0 2"'), link(0)), 300),
    "elements that nobody knows": (many(lambda k: f"<x{k}/>", link(0)), 10_000),
    "elements inside elements that nobody knows": (many(lambda _: "<x><y/></x>", link(0)), 10_000),
    "attributes that nobody knows": (lambda n: f"<robot {attributes(n)}>{link(0)}</robot>", 8000),
    "an attribute twice": (lambda n: f"<robot {attributes(n)} a0=''/>", 8000),
    "a part twice": (lambda n: f'<robot name="r">{link(0)}<joint name="j">{"<axis/>" * n}</joint></robot>', 10_000),
    "numbers": (lambda n: f'<robot name="r">{joint(0, 0, 1)}</robot>'.replace("0 0 1", "1 " * n), 200_000),
    "a long name": (lambda n: f'<robot name="r"><link name="{"x" * n}"/></robot>', 200_000),
    "deep nesting": (lambda n: '<robot name="r">' + "<link>" * n, 100_000),
    "comments": (many(lambda _: "<!-- x -->", link(0)), 30_000),
    "blank lines": (lambda n: "\n" * n + f'<robot name="r">{link(0)}</robot>', 200_000),
}  # fmt: skip


@pytest.mark.parametrize(("make", "n"), URDFS.values(), ids=URDFS)
def test_a_urdf_file_is_read_in_proportion_to_its_length(make: Callable[[int], str], n: int, tmp_path: Path) -> None:
    def prepare(count: int) -> Callable[[], object]:
        path = tmp_path / f"{count}.urdf"
        path.write_text(make(count))
        return lambda: kt.load(path)

    check(prepare, n)


# -- torques and trajectories


def arm_of(n: int) -> kt.Model:
    return kt.from_text(text_of(**star(n)))


def table(rows: int, columns: int, header: list[str] | None = None) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerows([header] if header else [])
    writer.writerows([[0.5] * columns] * rows)
    return text.getvalue()


FILES: dict[str, tuple[Callable[[int, Path], Callable[[], object]], int]] = {}


def of_file(name: str, n: int) -> Callable[[Any], Any]:
    def keep(prepare: Callable[[int, Path], Callable[[], object]]) -> Any:
        FILES[name] = prepare, n
        return prepare

    return keep


@of_file("rows of a CSV file", 1000)
def _(n: int, folder: Path) -> Callable[[], object]:
    robot, path = arm_of(3), folder / f"{n}.csv"
    path.write_text(table(n, 3))
    return lambda: read_torques(path, robot, n, 0.01)


@of_file("columns of a CSV file", 100)
def _(n: int, folder: Path) -> Callable[[], object]:
    robot, path = arm_of(n), folder / f"{n}.csv"
    path.write_text(table(3, n, list(robot.v_names)))
    return lambda: read_torques(path, robot, 3, 0.01)


@of_file("a CSV file's column twice", 5000)
def _(n: int, folder: Path) -> Callable[[], object]:
    robot, path = arm_of(3), folder / f"{n}.csv"
    path.write_text(table(0, n, [*(f"c{k}" for k in range(n)), "c0"]))
    return lambda: read_torques(path, robot, 3, 0.01)


@of_file("rows of an npy file", 200_000)
def _(n: int, folder: Path) -> Callable[[], object]:
    robot, path = arm_of(3), folder / f"{n}.npy"
    np.save(path, np.zeros((n, 3)))
    return lambda: read_torques(path, robot, n, 0.01)


@of_file("rows of an npz file with times", 100_000)
def _(n: int, folder: Path) -> Callable[[], object]:
    robot, path = arm_of(3), folder / f"{n}.npz"
    np.savez(path, tau=np.zeros((n, 3)), time=np.arange(n) * 0.01)
    return lambda: read_torques(path, robot, n, 0.01)


@of_file("rows of a trajectory", 2000)
def _(n: int, folder: Path) -> Callable[[], object]:
    robot = arm_of(1)
    motion = kt.simulate(robot, duration=0.01, dt=0.01, integrator="semi_implicit_euler")
    fields = {name: np.repeat(getattr(motion, name), n, axis=0) for name in ("time", "q", "v", "tau", "kinetic")}
    path = folder / f"{n}.npz"
    whole = {name: np.asarray(getattr(motion, name)) for name in (f.name for f in dataclasses.fields(motion))} | fields
    for name in ("qdd", "potential", "work", "dissipated"):
        whole[name] = np.repeat(whole[name], n, axis=0)
    np.savez_compressed(path, **whole)
    return lambda: kt.Trajectory.load(path)


@pytest.mark.parametrize(("prepare", "n"), FILES.values(), ids=FILES)
def test_a_file_of_numbers_is_read_in_proportion_to_its_length(
    prepare: Callable[[int, Path], Callable[[], object]], n: int, tmp_path: Path
) -> None:
    check(lambda count: prepare(count, tmp_path), n)


# -- what a program asks for


@pytest.mark.parametrize("make", [lambda n: kt.to_text(arm_of(n)), lambda n: repr(arm_of(n))])
def test_a_robot_is_written_in_proportion_to_its_size(make: Callable[[int], object]) -> None:
    check(lambda count: lambda: make(count), 200)
