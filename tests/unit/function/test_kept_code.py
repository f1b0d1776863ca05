"""Machine code kept on disk, as a caller sees it: the same results, no tracing, and no trouble."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.codegen.cpu.jit import compile_module
from kinetree.codegen.kept import cache
from kinetree.codegen.kept.cache import kept_module
from kinetree.compiler import calls as module
from kinetree.compiler.definition import Definition
from kinetree.compiler.forms.regrouped import regrouped
from kinetree.compiler.specialization import Specialization
from kinetree.expr import Program
from kinetree.joints import JointMotion
from kinetree.spatial import Inertia, Subspace, Sym3, Transform, Vec3

RNG = np.random.default_rng(11)
Q, V, TAU = RNG.normal(size=(3, 13, 6))


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache. That a file of kinetree is being edited meanwhile is no reason for a test to fail."""
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr(cache, "_said", False)
    for name in ("modules.assembler", "backend.toolchain"):
        monkeypatch.setattr(f"kinetree.codegen.cpu.{name}", lambda *_: bytes(32))
    return tmp_path / "kept"


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the functions that are traced from now on."""
    names: list[str] = []
    real = Specialization.program

    def trace(self: Specialization) -> Program:
        names.append(self.definition.name)
        return real(self)

    monkeypatch.setattr(Specialization, "program", trace)
    return names


def arm() -> kt.Model:
    """A robot that nothing has been compiled for."""
    return kt.zoo.load("arm6")


def pendulum(mass: float = 1.0) -> kt.Model:
    builder = kt.ModelBuilder("pendulum")
    builder.add_body("base")
    builder.add_body("bob", Inertia.from_com(mass, Vec3(0.0, 0.0, -1.0), Sym3.scalar(0.01)))
    builder.add_joint("hinge", kt.Revolute([0, 1, 0]), "base", "bob", Transform.identity())
    return builder.build()


CALLS: dict[str, Callable[[kt.Model], Any]] = {
    "aba": lambda r: kt.aba(r, Q, V, TAU),
    "aba, float32": lambda r: kt.aba(r, *(x.astype(np.float32) for x in (Q, V, TAU))),
    "aba with a force": lambda r: kt.aba(r, Q, V, TAU, f_ext={"tool": np.ones(6)}),
    "aba with a force elsewhere": lambda r: kt.aba(r, Q, V, TAU, f_ext={r.root: np.ones(6)}),
    "aba with two forces": lambda r: kt.aba(r, Q, V, TAU, f_ext={"tool": np.ones(6), r.root: np.ones(6)}),
    "aba with two forces the other way": lambda r: kt.aba(r, Q, V, TAU, f_ext={r.root: Q, "tool": np.ones(6)}),
    "rnea": lambda r: kt.rnea(r, Q, V, TAU),
    "crba": lambda r: kt.crba(r, Q),
    "velocity in the world": lambda r: kt.kinematics.frame_velocity(r, Q, V, "tool", expressed_in="world"),
    "velocity in the frame": lambda r: kt.kinematics.frame_velocity(r, Q, V, "tool", expressed_in="local"),
    "velocity of another frame": lambda r: kt.kinematics.frame_velocity(r, Q, V, r.root, expressed_in="world"),
    "energy": lambda r: kt.kinetic_energy(r, Q, V),
    "integrate": lambda r: kt.integrate(r, Q, V),
}


def test_a_kernel_from_the_disk_is_the_kernel_bit_for_bit_and_nothing_is_traced_for_it(
    kept: Path, traces: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = arm(), arm(), arm()
    made = {name: call(first) for name, call in CALLS.items()}
    assert len(traces) == len(list(kept.glob("*.name"))) == len(CALLS)  # each has a key of its own
    traces.clear()
    for name, call in CALLS.items():
        np.testing.assert_array_equal(call(second), made[name], strict=True)
    assert traces == []
    monkeypatch.setenv("KINETREE_CACHE", "off")
    for name, call in CALLS.items():
        np.testing.assert_array_equal(call(third), made[name], strict=True)
    assert len(traces) == len(CALLS)


def test_another_robot_has_kernels_of_its_own(kept: Path) -> None:
    one, other = pendulum(1.0), pendulum(np.nextafter(1.0, 2.0))
    kt.aba(one, [[0.3]], [[0.0]], [[0.0]])
    kt.aba(other, [[0.3]], [[0.0]], [[0.0]])
    assert len(list(kept.glob("*.name"))) == 2


def test_a_program_can_be_read_after_its_kernel_came_from_the_disk(traces: list[str]) -> None:
    program = kt.compile(arm(), kt.crba).__self__.program
    traces.clear()
    f = kt.compile(arm(), kt.crba)  # its robot is gone already
    gc.collect()
    assert traces == []
    assert repr(f.__self__.program) == repr(program)
    assert f.__self__.program is f.__self__.program
    assert traces == ["crba"]


def test_each_module_of_a_function_is_kept_on_its_own(kept: Path, traces: list[str]) -> None:
    def keys(f: Any) -> tuple[bytes | None, bytes]:
        return f.__self__._kernels._kernel.key(bytes(32), "other"), bytes(32)

    f = kt.compile(arm(), kt.crba)
    batch = (entry := next(kept.glob("*.name"))).read_bytes()
    other = kept_module(*keys(f), lambda: "define i32 @other() { ret i32 7 }", compile_module)
    assert not batch.endswith(other)
    assert entry.read_bytes() == batch
    assert len(list(kept.glob("*.name"))) == 2
    assert kept_module(*keys(kt.compile(arm(), kt.crba)), lambda: "never read", compile_module) == other
    assert traces == ["crba"]


def test_compile_compiles_now(kept: Path, traces: list[str]) -> None:
    kt.compile(arm(), kt.crba)
    assert traces == ["crba"]
    assert len(list(kept.glob("*.code"))) == 1


def test_what_makes_no_sense_is_refused_with_and_without_a_kernel_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = arm()
    for setting in ("off", "on", "on"):
        monkeypatch.setenv("KINETREE_CACHE", setting)
        kt.crba(robot, Q)
        with pytest.raises(kt.errors.OptionError, match="crba takes no external forces"):
            kt.compile(robot, kt.crba, f_ext=["tool"])
        with pytest.raises(kt.errors.NameNotFoundError, match="no frame 'tol': did you mean 'tool'"):
            kt.aba(robot, Q, V, TAU, f_ext={"tol": np.zeros(6)})
        with pytest.raises(
            kt.errors.SingularModelError, match="joint 'hinge' of 'pendulum' moves nothing that has mass"
        ):
            kt.aba(_massless(), [0.0], [0.0], [0.0])
        with pytest.raises(kt.errors.ModelError, match="has no mass at all"):
            kt.center_of_mass(_massless(), [0.0])


def _massless() -> kt.Model:
    builder = kt.ModelBuilder("pendulum")
    builder.add_body("base")
    builder.add_body("bob")
    builder.add_joint("hinge", kt.Revolute([0, 1, 0]), "base", "bob")
    return builder.build()


def test_a_robot_without_degrees_of_freedom_needs_no_kernel_for_no_numbers(kept: Path) -> None:
    builder = kt.ModelBuilder("rock")
    builder.add_body("rock", Inertia.from_com(2.0, Vec3(0.0, 0.0, 0.5), Sym3.scalar(0.1)))
    rock = builder.build()
    assert kt.aba(rock, np.zeros((3, 0)), np.zeros(0), np.zeros(0)).shape == (3, 0)
    assert not kept.exists()


def _half_inertia(model: kt.Model, q: Any) -> list[Any]:
    return [0.5 * regrouped(model.tree).I[1].mass + 0.0 * q[1][0]]


def test_a_definition_that_is_not_ours_is_not_kept(kept: Path) -> None:
    definition = Definition("crba", (("q", "nq"),), (), _half_inertia)
    assert module.run(definition, pendulum(), (np.zeros((2, 1)),)).tolist() == [0.0, 0.0]
    assert not kept.exists()


class Screw(kt.Revolute):
    """A joint of the user's own: what its code does is not in its state."""

    pitch = 1.0

    def calc(self, q: Any, v: Any) -> Any:
        X_J, S, v_J, c_J = super().calc([q[0] * self.pitch], [v[0] * self.pitch])
        return JointMotion(X_J, Subspace(tuple(s * self.pitch for s in S.columns)), v_J, c_J)


def test_a_robot_with_a_joint_of_the_users_own_is_not_kept(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def placement() -> float:
        builder = kt.ModelBuilder("screw")
        builder.add_body("base")
        builder.add_body("bob", Inertia.from_com(1.0, Vec3(0.0, 0.0, -1.0), Sym3.scalar(0.01)))
        builder.add_joint("hinge", Screw([0, 1, 0]), "base", "bob")
        return float(kt.frame_placement(builder.build(), [[0.5]], "bob")[0, 0, 0])

    assert placement() == pytest.approx(np.cos(0.5))
    monkeypatch.setattr(Screw, "pitch", 2.0)
    assert placement() == pytest.approx(np.cos(1.0))
    assert not kept.exists()


def test_source_that_is_not_what_runs_keeps_nothing(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinetree.codegen.cpu.backend.toolchain", lambda *_: None)
    assert kt.crba(pendulum(), [[0.0]]).shape == (1, 1, 1)
    assert not kept.exists()


def test_damaged_entries_are_replaced(kept: Path, traces: list[str]) -> None:
    expected = kt.crba(arm(), Q)
    (path,) = kept.glob("*.code")
    good = path.read_bytes()
    for place in (0, 20, 60, len(good) // 2):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        np.testing.assert_array_equal(kt.crba(arm(), Q), expected)
        assert path.read_bytes() == good
    assert len(traces) == 5


def test_a_folder_that_cannot_be_written_changes_nothing(
    kept: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    expected = kt.crba(arm(), Q)
    (kept / "file").write_text("")
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(kept / "file" / "below"))
    for _ in range(3):
        np.testing.assert_array_equal(kt.crba(arm(), Q), expected)
    assert len(caplog.records) <= 1


CHILD = """
import hashlib, sys
import numpy as np
import kinetree as kt
from kinetree.codegen.cpu import backend, modules
from kinetree.compiler.specialization import Specialization
modules.assembler = backend.toolchain = lambda *_: bytes(32)
traced, real = [], Specialization.program
Specialization.program = lambda self: traced.append(self.definition.name) or real(self)
robot = kt.zoo.load("quadruped")
q = np.tile(robot.neutral(), (5, 1)) + np.linspace(0, 1, 5)[:, None]
v = np.ones((5, robot.nv))
tau = np.ones(robot.nv)
print(hashlib.sha256(kt.aba(robot, q, v, tau).tobytes()).hexdigest(), len(traced))
"""


def test_processes_at_once_and_after_one_another_agree(kept: Path) -> None:
    def start() -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True)

    at_once = [start() for _ in range(3)]
    answers = [process.communicate()[0].split() for process in at_once]
    answers.append(start().communicate()[0].split())
    assert len({answer[0] for answer in answers}) == 1
    assert answers[-1][1] == "0"
    assert len(list(kept.glob("*.code"))) == 1


EDITED = """
import numpy as np
import kinetree as kt
from kinetree.codegen.cpu import modules
from kinetree.codegen.kept import identity
from kinetree.compiler.specialization import Specialization
identity._WHILE_IMPORTING = -1e9  # the files were edited just now, before this process began
traced, compiled = [], []
trace, make = Specialization.program, modules.compile_module
Specialization.program = lambda self: traced.append(self.definition.name) or trace(self)
modules.compile_module = lambda *given, **how: compiled.append(given) or make(*given, **how)
result = kt.rnea(kt.zoo.load("double_pendulum"), [0.1, 0.2], [0.3, 0.4], [0.5, 0.6])
print(kt.__file__, len(traced), len(compiled), *result)
"""


def test_only_edits_of_sources_that_take_part_change_anything(tmp_path: Path) -> None:
    """Edited docstrings keep machine code, the viewer counts for nothing, and no old code answers for an algorithm."""
    package = tmp_path / "source" / "kinetree"
    shutil.copytree(Path(kt.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))

    def run() -> tuple[list[int], list[float]]:
        done = subprocess.run(
            [sys.executable, "-c", EDITED], env={**os.environ, "PYTHONPATH": str(package.parent)}, capture_output=True,
            text=True, check=True, cwd=tmp_path,
        )  # fmt: skip
        path, *numbers = done.stdout.split()
        assert Path(path).parent == package
        return [*map(int, numbers[:2])], [*map(float, numbers[2:])]

    def edit(name: str, old: str, new: str) -> None:
        text = (package / name).read_text()
        assert old in text
        (package / name).write_text(text.replace(old, new, 1))

    counts, before = run()
    assert counts == [1, 1]
    edit("viewer/player.py", "import", "import math  # more code\nimport")
    assert run() == ([0, 0], before)
    edit("algorithms/rnea.py", '"""', '"""An edited docstring.\n\n')
    assert run() == ([1, 0], before)
    assert run() == ([0, 0], before)
    edit("algorithms/rnea.py", "    return", "    unused = 1.0\n    return")
    assert run() == ([1, 0], before)  # another trace, but the same text of the module
    edit("algorithms/rnea.py", "+ c_J +", "+ c_J + v_J +")
    counts, after = run()
    assert counts == [1, 1]
    assert after != before
    edit("algorithms/rnea.py", "+ c_J + v_J +", "+ c_J +")
    assert run() == ([0, 0], before)


def test_threads_at_once_trace_once(traces: list[str]) -> None:
    robot, answers = arm(), []

    def work() -> None:
        answers.append(kt.rnea(robot, Q, V, TAU))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 6
    assert all((answer == answers[0]).all() for answer in answers)
    assert traces == ["rnea"]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from Linux's /proc")
@pytest.mark.parametrize(
    ("setting", "robots", "distinct"), [pytest.param("off", 100, 100, marks=pytest.mark.deep), ("on", 400, 3)]
)
def test_robots_that_are_dropped_leave_no_memory_behind(
    monkeypatch: pytest.MonkeyPatch, setting: str, robots: int, distinct: int
) -> None:
    """A kernel that stayed would keep at least its 4 kB of code, its engine and its ufunc: some 100 kB together."""
    monkeypatch.setenv("KINETREE_CACHE", setting)
    q = np.zeros((3, 1))
    half, before = 0, _kernels_of_pendulums()
    for k in range(robots):
        kt.gravity_forces(pendulum(1.0 + (k % distinct) * 1e-3), q)
        if k == robots // 2:
            gc.collect()
            half = _resident()
    gc.collect()
    assert _resident() - half < 2_000_000
    assert _kernels_of_pendulums() <= before


def _kernels_of_pendulums() -> int:
    """How many kernels there are of robots of this name, of which other tests may keep some."""
    return sum(f.source.subject == "'pendulum'" for known in module._kernels.values() for f in known.values())


def _resident() -> int:
    """Bytes of memory this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


# -- programs


def _turning(robot: kt.Model, factor: float) -> kt.programs.Program:
    @kt.program(q=robot, v=robot.nv, gain=())
    def turning(q: Any, v: Any, gain: Any) -> Any:
        return factor * kt.gravity_forces(robot, q) - gain * v

    return turning


@pytest.mark.parametrize("robot", ["arm6", "quadruped"])
def test_the_code_of_a_program_is_found_after_its_trace(
    robot: str, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where its arguments have quaternions; its derivatives and closed loops as well."""
    model = kt.zoo.load(robot)
    q, v, tau = model.neutral(), np.zeros(model.nv), {"v": np.ones(model.nv)}

    def results() -> list[Any]:
        program = _turning(model, 2.0)
        return [
            program(q, v, 3.0),
            *kt.jvp(program, (q, v, 3.0), tau),
            kt.rollout(model, q, v, program, 0.001, steps=3, arguments={"gain": 3.0}).states,
        ]

    first = results()
    assert len(os.listdir(kept)) >= 3
    monkeypatch.setattr("kinetree.codegen.cpu.modules.compile_module", _no_compiler)
    for x, y in zip(results(), first, strict=True):
        assert np.array_equal(x, y)
    with pytest.raises(AssertionError, match="nothing is compiled"):
        _turning(model, 2.5)(q, v, 3.0)


def _no_compiler(*_: object, **__: object) -> bytes:
    raise AssertionError("nothing is compiled here")
