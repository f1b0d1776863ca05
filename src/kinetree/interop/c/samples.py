"""Arguments for the self-test of a function, and the results that kinetree has for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.expr import interpret
from kinetree.interop.node import Node
from kinetree.interop.subject import Subject

__all__ = ["arguments", "results"]

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
_COUNT = 3


def arguments(subject: Subject, node: Node) -> list[Array]:
    """A few samples of each argument (n, size): configurations, the robot's own numbers, and numbers from 0.1 to 1."""
    rng = np.random.default_rng(0)
    configurations, known = subject.source.configurations, subject.own_numbers()
    found = []
    for k, port in enumerate(node.inputs):
        if k in configurations:
            rows = np.stack([configurations[k].random(rng) for _ in range(_COUNT)])
        elif k in known:
            rows = np.tile(known[k].ravel(), (_COUNT, 1))
        elif k < len(subject.kinds) and subject.kinds[k] is not float:
            rows = np.ones((_COUNT, port.size))
        else:
            rows = rng.uniform(0.1, 1.0, size=(_COUNT, port.size))
        found.append(rows.astype(node.dtype).astype(float))
    return found


def results(node: Node, given: Sequence[Array]) -> list[Array]:
    """The results of the node's program for them."""
    count = len(given[0]) if given else 1
    rows = [interpret(node.program, *(x[k].tolist() for x in given)) for k in range(count)]
    return [np.array([row[n] for row in rows]) for n in range(len(node.outputs))]
