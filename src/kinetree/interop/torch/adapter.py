"""`kt.interop.to_torch`: the request, and whether there is a PyTorch for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kinetree.interop.installed import check_installed
from kinetree.interop.subject import Subject
from kinetree.model import Model
from kinetree.model.external_forces import ForceKey
from kinetree.programs import Program

if TYPE_CHECKING:
    import numpy as np

    from kinetree.interop.torch.function import TorchFunction

__all__ = ["adapted", "cast", "dtype_among", "to_torch"]

_OLDEST = (2, 13)


def to_torch(
    robot: Model | Program,
    function: Callable[..., Any] | None = None,
    *,
    f_ext: Sequence[ForceKey] = (),
    parameters: Sequence[str] = (),
    unroll: bool | None = None,
    **options: Any,
) -> TorchFunction:
    """Make a function of PyTorch's tensors of one of kinetree's functions on a robot, or of a program.

    It has derivatives to any order, by autograd and by `torch.func` (`grad`, `jacrev`, `jacfwd`, `hessian`, `jvp`,
    `vmap`, nested as one likes); they are kinetree's own programs. `torch.compile(fullgraph=True)` and `torch.export`
    take it as one operator. Tensors share their memory with kinetree, for any strides; nothing is copied. The numbers
    are those of NumPy's arrays, to the bit. It computes on the CPU. See `kinetree docs torch`.

    Tensors are given by position or by name and are of shape (…, n); leading axes broadcast. NumPy's arrays, lists and
    numbers are taken too. It computes in single precision if all tensors of real numbers are float32, and otherwise in
    double; numbers, lists and tensors of whole numbers do not count, and whole numbers alone are computed in double.
    kinetree's own functions, called with tensors, have the same rule. Infinities and NaN give no warning.

    Derivatives are by the numbers of each argument, as PyTorch has them: by the nq numbers of q, four of each
    quaternion, which is normalised inside. (`kt.vjp` and `kt.jacobian` are by displacements, nv.)

    Args:
        robot: the robot; or a program (`kt.program`) alone, which knows its robots and options.
        function: `kt.aba`, `kt.rnea`, …
        f_ext: the frames on which external forces act, as for `kt.compile`; each is an argument (…, 6) after the
            others.
        parameters: names of the robot's parameters; each is an argument after those of f_ext.
        unroll: as for `kt.compile`.
        options: the function's own options, such as `frame="tool"`; `steps=` for `kt.rollout`.

    Returns:
        A function of tensors. The results of a program have the form that its Python function gives them; other
        functions give one tensor, as `kt.compile` does.

    Raises:
        MissingPackageError: PyTorch is missing, or older than 2.13.
        OptionError: `function` is not kinetree's, or does not have an option.
        ShapeError: in a call: a shape does not fit, or leading axes do not broadcast.
        DTypeError: in a call: a tensor is not of real numbers, or is missing.
        DeviceError: in a call: a tensor is not on the CPU, or some are on the device "meta" and others not.

    >>> import torch
    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> aba = kt.interop.to_torch(robot, kt.aba)
    >>> aba
    <aba(q[2], v[2], tau[2]) of 'double_pendulum' for PyTorch>
    >>> q, v, tau = torch.zeros(3, 1000, 2)
    >>> aba(q, v, tau).shape
    torch.Size([1000, 2])
    >>> by_tau = torch.func.vmap(torch.func.jacrev(aba, argnums=2))
    >>> by_tau(q, v, tau).shape
    torch.Size([1000, 2, 2])
    """
    return adapted(
        Subject(
            robot,
            function,
            f_ext=f_ext,
            parameters=parameters,
            unroll=unroll,
            options=options,
            adapter="kt.interop.to_torch",
        )
    )


def adapted(subject: Subject) -> TorchFunction:
    """A function of PyTorch's tensors."""
    check_installed("kt.interop.to_torch", "torch", _OLDEST)
    from kinetree.interop.torch.function import TorchFunction

    return TorchFunction(subject)


def dtype_among(name: str, arrays: Sequence[Any]) -> str:
    """The dtype of a call of the function `name`, as `to_torch` decides it."""
    check_installed("kt.interop.to_torch", "torch", _OLDEST)
    from kinetree.interop.torch.tensors import common_dtype

    return str(common_dtype(name, arrays)).removeprefix("torch.")


def cast(tensor: Any, dtype: np.dtype[Any]) -> Any:
    """A tensor in another dtype."""
    from kinetree.interop.torch import tensors

    return tensors.cast(tensor, dtype)
