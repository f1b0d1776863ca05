"""`kt.interop.to_jax`: the request, and whether there is a JAX for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kinetree.interop.installed import check_installed
from kinetree.interop.subject import Subject
from kinetree.model import Model
from kinetree.model.external_forces import ForceKey
from kinetree.programs import Program

if TYPE_CHECKING:
    from kinetree.interop.jax.function import JaxFunction

__all__ = ["adapted", "dtype_among", "to_jax"]

_OLDEST = (0, 5)


def to_jax(
    robot: Model | Program,
    function: Callable[..., Any] | None = None,
    *,
    f_ext: Sequence[ForceKey] = (),
    parameters: Sequence[str] = (),
    unroll: bool | None = None,
    **options: Any,
) -> JaxFunction:
    """Make a function of JAX's arrays of one of kinetree's functions on a robot, or of a program.

    It works inside `jax.jit`, `vmap`, `grad`, `jvp`, `hessian`, `lax.scan`, `shard_map` and `pmap`, and everything that
    is made of these. On the CPU, XLA calls kinetree's machine code itself, with no Python in between; the numbers are
    those of NumPy's arrays, to the bit. Its derivatives are kinetree's own programs, forward and in reverse, to any
    order. See `kinetree docs jax`.

    Arrays are given by position or by name and are of shape (…, n); leading axes broadcast. Lists and numbers are taken
    too. It computes in single precision if JAX promotes the arrays of real numbers to float32, and otherwise in double,
    which JAX has after `jax.config.update("jax_enable_x64", True)`; numbers, lists and arrays of whole numbers do not
    count, and alone they are computed in JAX's default precision. kinetree's own functions, called with JAX's arrays,
    have the same rule.

    Derivatives are by the numbers of each argument, as JAX has them: by the nq numbers of q, four of each quaternion,
    which is normalised inside. (`kt.vjp` and `kt.jacobian` are by displacements, nv.)

    Values that only arrive in a compiled computation cannot raise: NaN stays in its sample, as does the NaN that a
    quaternion of no direction gives.

    Args:
        robot: the robot; or a program (`kt.program`) alone, which knows its robots and options.
        function: `kt.aba`, `kt.rnea`, …
        f_ext: the frames on which external forces act, as for `kt.compile`; each is an argument (…, 6) after the
            others.
        parameters: names of the robot's parameters; each is an argument after those of f_ext.
        unroll: as for `kt.compile`.
        options: the function's own options, such as `frame="tool"`; `steps=` for `kt.rollout`.

    Returns:
        A function of arrays. The results of a program have the form that its Python function gives them; other
        functions give one array, as `kt.compile` does.

    Raises:
        MissingPackageError: JAX is missing, or older than 0.5.
        OptionError: `function` is not kinetree's, or does not have an option.
        ShapeError: in a call: a shape does not fit, or leading axes do not broadcast.
        DTypeError: in a call: an array is not of real numbers, or is missing.

    >>> import jax
    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> aba = kt.interop.to_jax(robot, kt.aba)
    >>> aba
    <aba(q[2], v[2], tau[2]) of 'double_pendulum' for JAX>
    >>> q, v, tau = jax.numpy.zeros((3, 1000, 2))
    >>> jax.jit(aba)(q, v, tau).shape
    (1000, 2)
    >>> by_tau = jax.vmap(jax.jacobian(aba, argnums=2))
    >>> by_tau(q, v, tau).shape
    (1000, 2, 2)
    """
    return adapted(
        Subject(
            robot,
            function,
            f_ext=f_ext,
            parameters=parameters,
            unroll=unroll,
            options=options,
            adapter="kt.interop.to_jax",
        )
    )


def adapted(subject: Subject) -> JaxFunction:
    """A function of JAX's arrays."""
    check_installed("kt.interop.to_jax", "jax", _OLDEST)
    from kinetree.interop.jax.function import JaxFunction

    return JaxFunction(subject)


def dtype_among(name: str, arrays: Sequence[Any]) -> str:
    """The dtype of a call of the function `name`, as `to_jax` decides it."""
    check_installed("kt.interop.to_jax", "jax", _OLDEST)
    from kinetree.interop.jax.calls import common_dtype

    return common_dtype(name, arrays).name
