"""Polynomials in LLVM IR."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["horner"]


def horner(name: str, kind: str, fma: str, x: str, coefficients: Sequence[str]) -> str:
    """Instructions that define `%name` as c₀ + c₁ x + c₂ x² + … by Horner's rule.

    Args:
        name: of the result, without its percent sign; steps have a number behind it.
        kind: the type of all numbers.
        fma: the call of a fused multiply-add, up to its arguments.
        x: the variable.
        coefficients: c₀, c₁, …; at least two.
    """
    *rest, total = coefficients
    lines = []
    for step, coefficient in enumerate(reversed(rest), 1):
        result = f"%{name}" if step == len(rest) else f"%{name}{step}"
        lines.append(f"  {result} = {fma}({kind} {x}, {kind} {total}, {kind} {coefficient})")
        total = result
    return "\n".join(lines)
