"""Why two numbers differ, as far as the numbers themselves show: the usual mistakes of files and of their readers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kinetree.comparison.side import Array, Solid

__all__ = ["about_turn", "factor", "length", "numbers", "of_axis", "of_inertia", "of_limit", "vector", "vectors"]

_CLOSE = 1e-6
_FACTORS = {
    1000.0: "1000 times: mm for m, or g for kg?",
    1e6: "a million times: mm² for m²?",
    1e9: "10⁹ times: mm³ for m³?",
    180.0 / math.pi: "180/π times: degrees for radians?",
    2.0: "twice",
}


def numbers(a: float, b: float) -> tuple[str, str]:
    """Two numbers for people, with the digits that distinguish them."""
    (x,), (y,) = _digits([a], [b])
    return x, y


def vectors(a: Sequence[float] | Array, b: Sequence[float] | Array) -> tuple[str, str]:
    """Two vectors for people, with the digits that distinguish them."""
    x, y = _digits(list(map(float, a)), list(map(float, b)))
    return f"({', '.join(x)})", f"({', '.join(y)})"


def vector(x: Sequence[float] | Array) -> str:
    """A vector for people."""
    return vectors(x, x)[0]


def length(x: float) -> str:
    """A length for people."""
    for unit, size in (("m", 1.0), ("mm", 1e-3), ("µm", 1e-6)):
        if abs(x) >= size:
            return f"{x / size:.4g} {unit}"
    return f"{x:.3g} m"


def factor(ours: float, theirs: float) -> str:
    """The factor between two numbers, if it explains the difference."""
    if not (ours and theirs and math.isfinite(ours) and math.isfinite(theirs)):
        return ""
    if math.isclose(ours, -theirs, rel_tol=_CLOSE):
        return "the sign is the other"
    for ratio, word in _FACTORS.items():
        if math.isclose(theirs / ours, ratio, rel_tol=_CLOSE):
            return word
        if math.isclose(ours / theirs, ratio, rel_tol=_CLOSE):
            return f"here it is {word}"
    return ""


def of_axis(ours: Array, theirs: Array) -> str:
    """Why two axes differ."""
    if np.allclose(ours, -theirs, atol=_CLOSE):
        return "it points the other way"
    angle = math.degrees(math.atan2(float(np.linalg.norm(np.cross(ours, theirs))), float(ours @ theirs)))
    return f"{angle:.3g}° apart"


def about_turn(R: Array) -> str:
    """A rotation for people: its angle and its axis."""
    spin = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2.0
    sine = float(np.linalg.norm(spin))
    angle = math.degrees(math.atan2(sine, (float(np.trace(R)) - 1.0) / 2.0))
    axis = f" about {vector(spin / sine)}" if sine > _CLOSE else ""
    return f"{angle:.4g}°{axis}"


def of_inertia(ours: Solid, theirs: Solid) -> str:
    """Why two inertias about the centre of mass differ, where the masses and their centres are the same."""
    A, B = ours.inertia, theirs.inertia
    close = _CLOSE * max(float(np.abs(A).max()), float(np.abs(B).max()))

    def same(X: Array, Y: Array) -> bool:
        return bool((np.abs(X - Y) <= close).all())

    mixed = 2.0 * np.diag(np.diag(A)) - A
    if same(mixed, B):
        return "the products of inertia have the other sign"
    if same(np.diag(np.diag(A)), B):
        return "the products of inertia are missing there"
    if same(np.diag(np.diag(B)), A):
        return "the products of inertia are missing here"
    shift = ours.about_origin - A
    if np.abs(shift).max() > close and same(A + shift, B):
        return "there it is that about the body's origin"
    if np.abs(shift).max() > close and same(A - shift, B):
        return "here it is that about the body's origin"
    if np.abs(A).max() and np.abs(B).max():
        ratio = float((A * B).sum() / (A * A).sum())
        if same(ratio * A, B) and abs(ratio - 1.0) > 100.0 * _CLOSE:
            return factor(1.0, ratio) or f"{ratio:.6g} times in all entries"
    if not np.abs(B).max():
        return "there is none there"
    if not np.abs(A).max():
        return "there is none here"
    a, b = np.linalg.eigvalsh(A), np.linalg.eigvalsh(B)
    if (np.abs(a - b) <= close).all() and np.abs(A - B).max() > 100.0 * close:
        return "the principal moments are the same, about other axes"
    return ""


def of_limit(ours: float, theirs: float) -> str:
    """Why two limits differ."""
    if math.isinf(ours) and not math.isinf(theirs):
        return "there is none here"
    if math.isinf(theirs) and not math.isinf(ours):
        return "there is none there"
    return factor(ours, theirs)


def _digits(a: list[float], b: list[float]) -> tuple[list[str], list[str]]:
    """The numbers of both with six digits, or more where they would look the same; mere rounding becomes zero."""
    least = 1e-13 * max((abs(x) for x in (*a, *b) if math.isfinite(x)), default=0.0)
    a, b = ([0.0 if abs(x) <= least else x for x in row] for row in (a, b))
    for digits in (6, 9, 12, 17):
        x, y = ([f"{value:.{digits}g}" for value in row] for row in (a, b))
        if x != y or a == b:
            break
    return x, y
