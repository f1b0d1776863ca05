"""Costs to first and second order, and Hessians of any scalar function of programs' arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinetree.control.optimal.stages import Cost, value_of
from kinetree.functions.derivatives import jacobian, vjp
from kinetree.programs import Program, program

__all__ = ["Quadratic", "gauss_newton", "hessian", "slope"]

Ports = Mapping[str, Any]
"""The arguments of a function and the shape of each, as `kt.program` takes them."""


class Quadratic(NamedTuple):
    """A cost and its derivatives."""

    cost: Any
    gradient: Any
    hessian: Any


def gauss_newton(
    cost: Callable[..., Cost], ports: Ports, at: Mapping[str, Any], wrt: Sequence[str], along: Any | None = None
) -> Quadratic:
    """A cost with the Hessian JᵀJ of its residuals and the exact one of its scalar.

    `along`: derivatives of all arguments in `wrt` by some directions, which the result is then by.
    """
    terms = cost(**at)
    value, gradient, bent = 0.0, 0.0, 0.0
    if terms.residual is not None:
        residuals = _program(lambda **x: cost(**x).residual, ports)
        by = jacobian(residuals, at, wrt=tuple(wrt))
        J, r = np.hstack([by[name] for name in wrt]), terms.residual
        J = J if along is None else J @ along
        value, gradient, bent = value + 0.5 * (r @ r), gradient + J.T @ r, bent + J.T @ J
    if terms.scalar is not None:

        def scalar(**x: Any) -> Any:
            return cost(**x).scalar

        g, H = slope(scalar, ports, at, wrt), hessian(scalar, ports, at, wrt)
        if along is not None:
            g, H = along.T @ g, along.T @ H @ along
        value, gradient, bent = value + terms.scalar, gradient + g, bent + H
    return Quadratic(value, gradient, bent)


def slope(scalar: Callable[..., Any], ports: Ports, at: Mapping[str, Any], wrt: Sequence[str]) -> Any:
    """The gradient of a scalar function by several arguments, one after another."""
    by = vjp(_program(scalar, ports), at, 1.0, wrt=tuple(wrt))[1]
    return np.concatenate([by[name] for name in wrt])


def hessian(scalar: Callable[..., Any], ports: Ports, at: Mapping[str, Any], wrt: Sequence[str]) -> Any:
    """The Hessian of a scalar function, by displacements of configurations.

    The derivative by one displacement of the derivative by another depends on their order; the mean of both orders is
    the second derivative along exponentials.
    """
    slopes = _program(lambda **x: slope(scalar, ports, x, wrt), ports)
    by = jacobian(slopes, at, wrt=tuple(wrt))
    H = np.hstack([by[name] for name in wrt])
    return 0.5 * (H + H.T)


def exact(cost: Callable[..., Cost]) -> Callable[..., Any]:
    """The number that a cost is, as a function."""
    return lambda **x: value_of(cost(**x))


def _program(function: Callable[..., Any], ports: Ports) -> Program:
    """A program of a function that takes arguments by name."""

    def named(**x: Any) -> Any:
        return function(**x)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    named.__signature__ = inspect.Signature([inspect.Parameter(x, kind) for x in ports])  # type: ignore[attr-defined]
    return program(named, **ports)
