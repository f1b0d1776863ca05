"""Compiled functions and robots sent to other tasks: what is there already is not made again."""

from __future__ import annotations

import copy
import gc
import multiprocessing
import pickle
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler import calls as module
from kinetree.compiler.compiled import CompiledFunction
from kinetree.compiler.specialization import Specialization
from kinetree.model import interning

ARM = kt.zoo.load("double_pendulum")
TIP = list(ARM.frames)[-1]
Q, V, TAU = np.random.default_rng(5).normal(size=(3, 2))

ASKED: dict[str, tuple[Callable[..., Any], dict[str, Any], tuple[Any, ...]]] = {
    "a function": (kt.aba, {}, (Q, V, TAU)),
    "by its other name": (kt.forward_dynamics, {}, (Q, V, TAU)),
    "in single precision": (kt.crba, {"dtype": "float32"}, (Q.astype("f"),)),
    "with options": (kt.frame_jacobian, {"frame": TIP, "expressed_in": "world"}, (Q,)),
    "with switches": (kt.aba, {"passive": ["damping"], "limits": True}, (Q, V, TAU)),
    "with forces and parameters": (
        kt.rnea, {"f_ext": [TIP], "parameters": ["gravity"]}, (Q, V, TAU, np.ones(6), np.ones(3)),
    ),
    "with constraints": (kt.constraints.constraint_jacobian, {"constraints": [kt.constraints.Contact(TIP)]}, (Q,)),
    "in loops": (kt.gravity_forces, {"unroll": False}, (Q,)),
    "of several steps": (kt.rollout, {"steps": 3}, (Q, V, np.zeros((3, 2)), 0.01)),
}  # fmt: skip


@pytest.mark.parametrize(("function", "options", "arguments"), ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_a_compiled_function_comes_through_a_pickle(
    function: Callable[..., Any], options: dict[str, Any], arguments: tuple[Any, ...], protocol: int
) -> None:
    f = kt.compile(ARM, function, **options)
    data = pickle.dumps(f, protocol)
    again = pickle.loads(data)
    assert again is not f
    assert repr(again.__self__) == repr(f.__self__)
    assert again.__self__.source.key("single") == f.__self__.source.key("single")
    assert np.array_equal(again(*arguments), f(*arguments))
    assert pickle.loads(data) is again
    assert pickle.loads(pickle.dumps(f.__self__, protocol)) is again.__self__


def test_another_process_computes_with_it() -> None:
    f = kt.compile(ARM, kt.crba)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert all(np.array_equal(M, f(q)) for M, q in zip(pool.map(f, [Q, V]), [Q, V], strict=True))


def test_without_a_builtin_it_comes_through_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pickle.dumps(kt.compile(ARM, kt.crba))
    robot = kt.ModelBuilder("stone")
    robot.add_body("stone")
    still = kt.compile(robot.build(), kt.crba)
    assert pickle.loads(pickle.dumps(still))(np.zeros(0)).shape == (0, 0)
    monkeypatch.setattr("kinetree.codegen.cpu.backend.layout_is_known", lambda: False)
    monkeypatch.setattr(interning, "_last", [])
    monkeypatch.setattr(interning, "_alive", {})
    general = pickle.loads(data)
    assert np.array_equal(general(Q), kt.crba(ARM, Q))
    assert np.array_equal(pickle.loads(pickle.dumps(general))(Q), kt.crba(ARM, Q))


def test_a_function_that_no_compile_made_says_so() -> None:
    made = kt.compile(ARM, kt.crba).__self__
    bare = CompiledFunction(made.source, "float64")
    with pytest.raises(TypeError, match=r"cannot be pickled, because kinetree\.compile did not make it"):
        pickle.dumps(bare)


def test_a_robot_that_comes_again_is_not_compiled_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody holds the robot between the tasks."""
    monkeypatch.setenv("KINETREE_CACHE", "off")
    traced: list[str] = []
    real = Specialization.program
    monkeypatch.setattr(Specialization, "program", lambda self: (traced.append(self.definition.name), real(self))[1])
    data = pickle.dumps(other_arm(0.3))
    for _ in range(4):
        kt.crba(pickle.loads(data), Q)
        gc.collect()
    assert len(traced) == 1


def other_arm(z: float, **options: Any) -> kt.Model:
    builder = kt.ModelBuilder.of(ARM)
    builder.add_frame("more", TIP if TIP in ARM.bodies else next(iter(ARM.bodies)), kt.lie.placement((0.0, 0.0, z)))
    for note in options.get("notes", ()):
        builder.note(note)
    return builder.build()


def test_only_the_very_same_robot_is_taken_for_it() -> None:
    one = pickle.loads(pickle.dumps(other_arm(0.1)))
    assert pickle.loads(pickle.dumps(other_arm(0.1))) is one
    assert pickle.loads(pickle.dumps(one)) is one
    for other in (other_arm(0.2), other_arm(0.1, notes=["assumed"]), ARM.lock([])):
        again = pickle.loads(pickle.dumps(other))
        assert again is not one
        assert again == other
        assert again.notes == other.notes
    assert other_arm(0.0) == other_arm(-0.0)
    plus, minus = (pickle.loads(pickle.dumps(other_arm(z))) for z in (0.0, -0.0))
    assert plus is not minus
    assert copy.deepcopy(one) is not one
    assert copy.deepcopy(one) == one


def test_robots_that_nobody_uses_are_dropped_after_a_few_others() -> None:
    first = weakref.ref(pickle.loads(pickle.dumps(other_arm(1.0))))
    assert first() is not None
    for k in range(interning._STAY):
        pickle.loads(pickle.dumps(other_arm(2.0 + k)))
    gc.collect()
    assert first() is None
    assert len(interning._last) == interning._STAY


def test_threads_that_restore_one_robot_get_one_object() -> None:
    data = pickle.dumps(other_arm(3.5))
    found, start = [], threading.Barrier(8)

    def restore() -> None:
        start.wait()
        found.append(pickle.loads(data))

    threads = [threading.Thread(target=restore) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(model) for model in found}) == 1


def test_threads_that_ask_at_once_get_one_compiled_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second one would trace again, and its finalizer would take the first one's functions away."""
    made: list[str] = []
    real = CompiledFunction.__init__

    def slowly(self: CompiledFunction, specialization: Specialization, dtype: str) -> None:
        made.append(specialization.definition.name)
        real(self, specialization, dtype)
        threading.Event().wait(0.02)  # so that without a lock the others come in

    monkeypatch.setattr(CompiledFunction, "__init__", slowly)
    robot = other_arm(4.5)
    finalizers: list[object] = []
    real_finalize = weakref.finalize
    monkeypatch.setattr(module.weakref, "finalize", lambda *a: (finalizers.append(a[0]), real_finalize(*a))[1])
    found: list[Any] = []
    start = threading.Barrier(6)

    def ask() -> None:
        start.wait()
        found.append(module._checked(kt.crba.definition, robot, {}, (), (), "float64", None))  # type: ignore[attr-defined]

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(f) for f in found}) == 1
    assert len(made) == 1
    assert sum(x is robot for x in finalizers) <= 2  # of the kernels, and of the stand-in
