"""Einstein's sums of any number of operands: diagonals, sums, and products of two operands at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.symbolic.array import BOOL, SymbolicArray, made
from kinetree.symbolic.elementwise import truth_values
from kinetree.symbolic.operands import as_symbolic, common_dtype
from kinetree.symbolic.products import product
from kinetree.symbolic.reductions import total
from kinetree.symbolic.refusals import refuse, refuse_value
from kinetree.symbolic.registry import NP, rule

__all__ = []

_Label = str | int
"""A letter, or an axis of the ellipsis, counted from its end: -1, -2, …"""
_Labels = tuple[_Label, ...]
_Term = tuple[NDArray[np.object_], _Labels]


@rule(NP.einsum)
def _einsum(*operands: Any, out: Any = None, optimize: Any = False, **options: Any) -> SymbolicArray:
    if out is not None:
        refuse_value("out")
    if options:
        refuse(f"np.einsum of arrays of a program takes no {next(iter(options))}=")
    text, given = (operands[0], operands[1:]) if isinstance(operands[0], str) else _as_text(operands)
    arrays = [as_symbolic(x) for x in given]
    inputs, output = _parsed(text, [x.ndim for x in arrays])
    sizes = _sizes(inputs, [x.shape for x in arrays])
    if missing := [k for k in output if k not in sizes]:
        raise ValueError(
            f"einstein sum subscripts string included output subscript {missing[0]!r} which never appeared"
        )
    terms = [_diagonal(_broadcast(x._elements, labels, sizes)) for x, labels in zip(arrays, inputs, strict=True)]
    while True:
        terms = [
            _summed(terms[k], {*output, *(n for t in terms[:k] + terms[k + 1 :] for n in t[1])})
            for k in range(len(terms))
        ]
        if len(terms) == 1:
            break
        i, j = min(combinations(range(len(terms)), 2), key=lambda pair: _cost(pair, terms, sizes))
        b, a = terms.pop(j), terms.pop(i)
        terms.insert(i, _multiplied(a, b, {*output, *_labels_of(terms)}, sizes))
    elements, labels = terms[0]
    result = elements.transpose([labels.index(k) for k in output])
    dtype = common_dtype(x._dtype for x in arrays)
    return made(truth_values(result) if dtype is BOOL else result, dtype)


def _as_text(operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """The form with lists of numbers, array, list, array, list, …, list, as the form with letters."""
    pairs, rest = len(operands) // 2, len(operands) % 2
    arrays, lists = [operands[2 * k] for k in range(pairs)], [operands[2 * k + 1] for k in range(pairs)]
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    texts = ["".join("..." if n is Ellipsis else letters[n] for n in numbers) for numbers in lists]
    text = ",".join(texts)
    if rest:
        text += "->" + "".join("..." if n is Ellipsis else letters[n] for n in operands[-1])
    return text, arrays


def _parsed(text: str, dimensions: Sequence[int]) -> tuple[list[_Labels], _Labels]:
    """The labels of each operand and of the result."""
    text = text.replace(" ", "")
    left, arrow, right = text.partition("->")
    parts = left.split(",")
    if len(parts) != len(dimensions):
        raise ValueError(f"{text!r} has {len(parts)} operand(s), but {len(dimensions)} were given")
    inputs = [_labels(part, n, text) for part, n in zip(parts, dimensions, strict=True)]
    longest = max((sum(isinstance(k, int) for k in labels) for labels in inputs), default=0)
    if arrow:
        letters = sum(c.isalpha() for c in right)
        output = _labels(right, letters + (longest if "..." in right else 0), text)
    else:
        all_labels = [k for labels in inputs for k in labels]
        once = sorted(k for k in set(all_labels) if isinstance(k, str) and all_labels.count(k) == 1)
        output = (*range(-longest, 0), *once)
    if len(set(output)) != len(output):
        raise ValueError(f"{text!r} has a letter twice in its result")
    return inputs, output


def _labels(part: str, dimensions: int, text: str) -> _Labels:
    before, dots, after = part.partition("...")
    letters = before + after
    if not all(c.isascii() and c.isalpha() for c in letters):
        raise ValueError(f"{text!r} has signs that are not letters")
    hidden = dimensions - len(letters)
    if hidden < 0 or (hidden and not dots):
        raise ValueError(f"{text!r} has {len(letters)} letter(s) in {part!r} for an operand of {dimensions} axes")
    return (*before, *range(-hidden, 0), *after)


def _sizes(inputs: Sequence[_Labels], shapes: Sequence[tuple[int, ...]]) -> dict[_Label, int]:
    sizes: dict[_Label, int] = {}
    for labels, shape in zip(inputs, shapes, strict=True):
        for k, n in zip(labels, shape, strict=True):
            if sizes.setdefault(k, n) == 1:
                sizes[k] = n
            elif n not in (1, sizes[k]):
                name = f"label {k!r}" if isinstance(k, str) else "an axis of the ellipsis"
                raise ValueError(f"{name} is of length {sizes[k]} in one operand, {n} in another")
    return sizes


def _labels_of(terms: Sequence[_Term]) -> set[_Label]:
    return {k for _, labels in terms for k in labels}


def _broadcast(elements: NDArray[np.object_], labels: _Labels, sizes: dict[_Label, int]) -> _Term:
    return np.broadcast_to(elements, [sizes[k] for k in labels]), labels


def _diagonal(term: _Term) -> _Term:
    """The term with one axis per label."""
    elements, labels = term
    for k in dict.fromkeys(labels):
        while labels.count(k) > 1:
            i = labels.index(k)
            j = labels.index(k, i + 1)
            elements = elements.diagonal(0, i, j)
            labels = (*(n for at, n in enumerate(labels) if at not in (i, j)), k)
    return elements, labels


def _summed(term: _Term, needed: set[_Label]) -> _Term:
    """The term, summed over axes that neither the result nor another term needs."""
    elements, labels = term
    over = tuple(at for at, k in enumerate(labels) if k not in needed)
    if not over:
        return term
    return np.asarray(total(elements, over), object), tuple(k for k in labels if k in needed)


def _count(labels: Iterable[_Label], sizes: dict[_Label, int]) -> int:
    count = 1
    for k in labels:
        count *= sizes[k]
    return count


def _cost(pair: tuple[int, int], terms: Sequence[_Term], sizes: dict[_Label, int]) -> int:
    """How many multiplications the product of two terms takes."""
    return _count({*terms[pair[0]][1], *terms[pair[1]][1]}, sizes)


def _multiplied(a: _Term, b: _Term, needed: set[_Label], sizes: dict[_Label, int]) -> _Term:
    """The product of two terms, summed over shared axes that nobody needs: a product of stacked matrices."""
    (x, of_x), (y, of_y) = a, b
    shared = [k for k in of_x if k in of_y]
    kept, summed = [k for k in shared if k in needed], [k for k in shared if k not in needed]
    left, right = [k for k in of_x if k not in of_y], [k for k in of_y if k not in of_x]
    batch = [sizes[k] for k in kept]
    n = _count(summed, sizes)
    matrices = _arranged(x, of_x, [*kept, *left, *summed]).reshape(*batch, _count(left, sizes), n)
    others = _arranged(y, of_y, [*kept, *summed, *right]).reshape(*batch, n, _count(right, sizes))
    labels = (*kept, *left, *right)
    return np.reshape(product(matrices, others), [sizes[k] for k in labels]), labels


def _arranged(x: NDArray[np.object_], labels: _Labels, order: Sequence[_Label]) -> NDArray[np.object_]:
    return x.transpose([labels.index(k) for k in order])
