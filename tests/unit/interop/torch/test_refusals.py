"""What PyTorch or kinetree refuses: one sentence, of the kind that its caller expects."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from tests.unit.interop.torch.test_values import PENDULUM, controller, state

torch = pytest.importorskip("torch", reason="torch is not installed")
Q, V, TAU = map(torch.tensor, state(PENDULUM, 3))


@pytest.fixture(scope="module")
def aba() -> object:
    """Called before, so that usual calls go straight to its machine code."""
    made = kt.interop.to_torch(PENDULUM, kt.aba)
    for given in ((Q, V, TAU), (Q[0], V[0], TAU[0])):
        made(*given)
    return made


@pytest.mark.parametrize("tracked", [False, True])
@pytest.mark.parametrize(
    ("given", "kind", "sentence"),
    [
        ((Q, V), kt.errors.DTypeError, r"aba takes 3 arrays \(q, v, tau\); tau is missing"),
        ((Q, V, TAU, TAU), kt.errors.DTypeError, r"aba takes 3 arrays \(q, v, tau\), not 4"),
        ((Q, V, TAU[:, :1]), kt.errors.ShapeError, r"tau has shape \(3, 1\), but 'double_pendulum' needs \(…, 2\)"),
        ((Q, V, 0.0), kt.errors.ShapeError, r"tau has shape \(\), but"),
        ((Q, V, TAU[:2]), kt.errors.ShapeError, "the leading axes do not broadcast together: q"),
        ((Q, V, TAU + 0j), kt.errors.DTypeError, r"tau must be a tensor of real numbers .*, not of torch.complex"),
        ((Q, V, TAU > 0), kt.errors.DTypeError, "tau must be a tensor of real numbers .*, not of torch.bool"),
        ((Q, V, TAU.to_sparse()), kt.errors.DTypeError, r"tau .*, not of torch.sparse_coo; give tau.to_dense\(\)"),
        ((Q, V, [[0.0, 1.0], [2.0]]), kt.errors.DTypeError, "aba: tau must be an array of real numbers"),
        ((Q, V, "no numbers"), kt.errors.DTypeError, "aba: tau must be an array of real numbers"),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit(aba: Any, tracked: bool, given: Any, kind: type, sentence: str) -> None:
    first = given[0].clone().requires_grad_() if tracked else given[0]
    with pytest.raises(kind, match=sentence):
        aba(first, *given[1:])


def test_dtypes_and_devices_that_it_does_not_compute_on(aba: Any) -> None:
    with pytest.raises(
        kt.errors.DTypeError, match=r"aba computes in float32 or float64, not in bfloat16; convert its tensors"
    ):
        aba(*(x.bfloat16() for x in (Q, V, TAU)))

    class Elsewhere(torch.Tensor):
        """A tensor that says it is on a graphics processor."""

        device = torch.device("cuda:0")

    with pytest.raises(kt.errors.DeviceError, match=r"aba: v is on the device cuda:0, and .* the CPU; give v.cpu\(\)"):
        aba(Q.clone().requires_grad_(), V.as_subclass(Elsewhere), TAU)


def test_tensors_on_two_devices(aba: Any) -> None:
    with pytest.raises(
        kt.errors.DeviceError, match=r"aba: v is on the CPU, and q on the device meta; give all tensors on"
    ):
        aba(Q.to("meta"), V, TAU.to("meta"))
    assert aba(Q.to("meta"), [0.0, 0.0], TAU.to("meta")).device.type == "meta"


def test_names_that_do_not_fit(aba: Any) -> None:
    with pytest.raises(kt.errors.DTypeError, match="aba has no argument 'torque': "):
        aba(Q, V, torque=TAU)
    with pytest.raises(kt.errors.DTypeError, match="aba: v is given twice"):
        aba(Q, V, TAU, v=V)


def test_kinds_of_a_programs_arguments() -> None:
    f = kt.interop.to_torch(controller)
    with pytest.raises(
        kt.errors.DTypeError, match=r"count must be a tensor of whole numbers of shape \(…\), not of torch.fl"
    ):
        f(Q, 1.0, torch.tensor(2.0))
    with pytest.raises(
        kt.errors.DTypeError, match=r"controller: on must be a tensor of booleans of shape \(…\), not of"
    ):
        f(Q, 1.0, 2, 1)


def test_arrays_of_two_frameworks(aba: Any) -> None:
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    with pytest.raises(kt.errors.DTypeError, match=r"aba: tau must be .*, not DataArray of xarray; give x.values"):
        aba(Q, V, xarray.DataArray(TAU.numpy()))


def test_requests_that_cannot_be_met() -> None:
    with pytest.raises(
        kt.errors.OptionError, match=r"kt\.interop\.to_torch takes a robot and one of kinetree's functions, as in"
    ):
        kt.interop.to_torch(kt.aba)
    with pytest.raises(
        kt.errors.OptionError, match=r"kt\.interop\.to_torch: the program 'controller' knows its robots"
    ):
        kt.interop.to_torch(PENDULUM, controller)
    with pytest.raises(kt.errors.OptionError, match="frames"):
        kt.interop.to_torch(PENDULUM, kt.aba, frames=1)
    with pytest.raises(kt.errors.OptionError, match="sin"):
        kt.interop.to_torch(PENDULUM, np.sin)


def test_torch_is_missing_or_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", "2.3.1+cpu")
    with pytest.raises(
        kt.errors.MissingPackageError, match=r"kt.interop.to_torch needs torch 2.13 or newer, and 2.3.1\+cpu is inst"
    ):
        kt.interop.to_torch(PENDULUM, kt.aba)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        kt.errors.MissingPackageError, match=r"kt.interop.to_torch needs torch: pip install 'kinetree\[torch\]'"
    ):
        kt.interop.to_torch(PENDULUM, kt.aba)
