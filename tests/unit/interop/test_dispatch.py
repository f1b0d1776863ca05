"""Arrays of frameworks given to kinetree's own functions reach an adapter, or a sentence says what to give."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree import inputs
from kinetree.interop import dispatch
from kinetree.interop.subject import Subject

torch = pytest.importorskip("torch", reason="torch is not installed")
xarray = pytest.importorskip("xarray", reason="xarray is not installed")
ROBOT = kt.zoo.load("double_pendulum")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What an adapter is called with, in place of the real ones."""
    found: list[tuple[Any, ...]] = []

    class Module:
        @staticmethod
        def adapted(subject: Subject) -> Callable[..., Any]:
            def call(*arguments: Any) -> Any:
                found.append((subject.name, subject.node(subject.dtype).dtype.name, *arguments))
                return torch.zeros(4)

            return call

    monkeypatch.setattr(dispatch, "importlib", SimpleNamespace(import_module=lambda _: Module))  # not Python's own
    return found


def test_functions_programs_forces_and_parameters_reach_the_adapter(calls: list[tuple[Any, ...]]) -> None:
    robot = ROBOT.with_gravity((0.0, 0.0, -9.0))
    zeros, single = torch.zeros(2, dtype=torch.float64), torch.zeros(2)
    kt.aba(robot, zeros, zeros, zeros)
    kt.aba(robot, single, single, single)
    kt.aba(robot, single, zeros, single)
    kt.aba(robot, np.zeros(2), np.zeros(2), np.zeros(2), f_ext={"tip": torch.zeros(6)})
    kt.gravity_forces(robot, np.zeros(2), parameters={"gravity": torch.zeros(3, dtype=torch.float64)})

    @kt.program(q=robot, on=bool)
    def where(q, on):
        return np.where(on, q, 0.0), 2.0 * q

    where(single, torch.tensor(True))
    names = [call[:2] for call in calls]
    assert names[:5] == [
        ("aba", "float64"),
        ("aba", "float32"),
        ("aba", "float64"),
        ("aba", "float64"),
        ("gravity_forces", "float64"),
    ]
    assert names[5] == ("where", "float32")


def test_numpy_never_asks_for_an_adapter(calls: list[tuple[Any, ...]]) -> None:
    kt.aba(ROBOT, [0.1, 0.2], np.zeros((3, 2)), np.zeros(2))
    assert not calls


def test_arrays_of_each_adapter_are_recognised() -> None:
    assert dispatch._ADAPTERS.keys() - inputs._AS_NUMPY.keys() == set(), "kinetree/inputs.py"


def test_refusals() -> None:
    tensor, labelled = torch.zeros(2), xarray.DataArray(np.zeros(2))
    with pytest.raises(
        kt.errors.DTypeError, match="one call has arrays of torch and of xarray: give those of one framework"
    ):
        kt.aba(ROBOT, tensor, labelled, tensor)
    with pytest.raises(
        kt.errors.OptionError, match="aba: threads= is for NumPy's arrays; leave it out for those of torch"
    ):
        kt.aba(ROBOT, tensor, tensor, tensor, threads=2)
    with pytest.raises(kt.errors.OptionError, match="aba: out= is for NumPy's arrays"):
        kt.aba(ROBOT, tensor, tensor, tensor, out=np.zeros(2))
    with pytest.raises(kt.errors.DTypeError, match=r"not Tensor of torch; give x.detach\(\).cpu\(\).numpy\(\)"):
        kt.simulate(ROBOT, q=tensor, duration=0.1)
    with pytest.raises(kt.errors.DTypeError, match=r"not DataArray of xarray; give x\.values"):
        kt.simulate(ROBOT, q=labelled, duration=0.1)
