"""What JAX or kinetree refuses: one sentence, of the kind that its caller expects."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from tests.unit.interop.jax.test_values import PENDULUM, controller, state

jax = pytest.importorskip("jax", reason="jax is not installed")
jnp = jax.numpy
Q, V, TAU = state(PENDULUM, 3)


@pytest.fixture(scope="module")
def aba() -> object:
    return kt.interop.to_jax(PENDULUM, kt.aba)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("given", "kind", "sentence"),
    [
        ((Q, V), kt.errors.DTypeError, r"aba takes 3 arrays \(q, v, tau\); tau is missing"),
        ((Q, V, TAU, TAU), kt.errors.DTypeError, r"aba takes 3 arrays \(q, v, tau\), not 4"),
        ((Q, V, np.zeros(3)), kt.errors.ShapeError, r"tau has shape \(3,\), but 'double_pendulum' needs \(…, 2\)"),
        ((Q, V, 0.0), kt.errors.ShapeError, r"tau has shape \(\), but"),
        ((Q, V, TAU[:2]), kt.errors.ShapeError, "the leading axes do not broadcast together: q"),
        ((Q, V, TAU + 0j), kt.errors.DTypeError,
            r"tau must be .* real numbers of shape \(…, 2\), not of dtype complex"),
        ((Q, V, TAU > 0), kt.errors.DTypeError, "tau must be an array of real numbers .*, not of dtype bool"),
        ((Q, V, [TAU[0], TAU]), kt.errors.DTypeError, "tau must be an array of real numbers"),
        ((Q.astype(np.float16),) * 3, kt.errors.DTypeError,
            "aba computes in float32 or float64, not in float16; convert"),
        ((Q, V, "no numbers"), TypeError, "(?s)not a valid JAX|abstract array"),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit(aba: Any, compiled: bool, given: Any, kind: type, sentence: str) -> None:
    with pytest.raises(kind, match=sentence):
        (jax.jit(aba) if compiled else aba)(*given)


def test_an_array_of_another_framework(aba: Any) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    with pytest.raises(kt.errors.DTypeError, match=r"aba: an argument must be .*, not Tensor of torch; give x\.detach"):
        aba(torch.zeros(2), V, TAU)


def test_studies_take_arrays_of_numpy(tmp_path: Path) -> None:
    with pytest.raises(
        kt.errors.DTypeError, match=r"vary: q must be an array .*, not ArrayImpl of jax; give numpy\.asarray"
    ):
        kt.sweep(PENDULUM, tmp_path / "study", samples=3, vary={"q": jnp.zeros((3, 2))}, duration=0.1)


def test_names_that_do_not_fit(aba: Any) -> None:
    with pytest.raises(kt.errors.DTypeError, match="aba has no argument 'torque': "):
        aba(Q, V, torque=TAU)
    with pytest.raises(kt.errors.DTypeError, match="aba: v is given twice"):
        aba(Q, V, TAU, v=V)


def test_kinds_of_a_programs_arguments() -> None:
    f, count, on = (
        kt.interop.to_jax(controller),
        "count must be an array of whole numbers",
        "on must be an array of booleans",
    )
    with pytest.raises(kt.errors.DTypeError, match=rf"controller: {count} of shape \(…\), not of"):
        f(Q, 1.0, 2.0)
    with pytest.raises(kt.errors.DTypeError, match=rf"controller: {on} of shape \(…\), not"):
        f(Q, 1.0, 2, 1)
    with pytest.raises(kt.errors.DTypeError, match=f"controller: {count}"):
        controller(Q, 1.0, jnp.asarray(2.5))
    with pytest.raises(kt.errors.DTypeError, match=f"controller: {on}"):
        jax.jit(lambda on: controller(Q, 1.0, 2, on))(1)


def test_arrays_of_other_devices_and_transformations(aba: Any) -> None:
    if len(jax.devices()) > 1:
        here, there = (jax.device_put(Q, device) for device in jax.devices()[:2])
        with pytest.raises(ValueError, match="incompatible devices"):
            aba(here, there, TAU)
    kept: list[Any] = []
    jax.jit(lambda q: kept.append(q) or q)(Q)
    with pytest.raises(jax.errors.UnexpectedTracerError):
        aba(kept[0], V, TAU)


def test_requests_that_cannot_be_met() -> None:
    with pytest.raises(
        kt.errors.OptionError, match=r"kt\.interop\.to_jax takes a robot and one of kinetree's functions, as in"
    ):
        kt.interop.to_jax(kt.aba)
    with pytest.raises(kt.errors.OptionError, match=r"kt\.interop\.to_jax: the program 'controller' knows its robots"):
        kt.interop.to_jax(PENDULUM, controller)
    with pytest.raises(kt.errors.OptionError, match="frames"):
        kt.interop.to_jax(PENDULUM, kt.aba, frames=1)
    with pytest.raises(kt.errors.OptionError, match="sin"):
        kt.interop.to_jax(PENDULUM, np.sin)


def test_a_program_that_cannot_be_traced() -> None:
    @kt.program(x=2)
    def broken(x):
        return x if x[0] > 0 else -x

    with pytest.raises(kt.errors.ProgramError, match=r"np\.where"):
        kt.interop.to_jax(broken)


def test_jax_is_missing_or_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax, "__version__", "0.4.38")
    with pytest.raises(
        kt.errors.MissingPackageError, match=r"kt.interop.to_jax needs jax 0.5 or newer, and 0.4.38 is installed: pip"
    ):
        kt.interop.to_jax(PENDULUM, kt.aba)
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(
        kt.errors.MissingPackageError, match=r"kt.interop.to_jax needs jax: pip install 'kinetree\[jax\]'"
    ):
        kt.interop.to_jax(PENDULUM, kt.aba)
