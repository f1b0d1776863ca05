"""Which values matter only where a condition holds: those that only one arm of a choice needs.

The adjoint of such a value may be anything, even NaN, where the arm is not taken: 0 · ∞ must not leak. It passes
through one `select` where it leaves the arm, not through one at every operation inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kinetree.expr.derivatives.rules import RULES, Choice, Local
from kinetree.expr.program import Argument, Block, Call, Instruction, Loop, Statement, Store, Switch

__all__ = ["Arm", "Arms"]

Arm = tuple[tuple[Argument, bool], ...]
"""Conditions, the outermost first, each with whether it must hold or fail."""


class Arms:
    """The arms of the values that one block defines; all other values are always needed."""

    def __init__(self, block: Block, results: Iterable[Argument], local: Callable[[int], Local | None]) -> None:
        """`local`: the local derivative of an instruction, by its value's name; None if it is not active."""
        self._arm: dict[int, Arm] = {}
        self._uses: dict[int, Arm] = {}
        self._local = local
        self._use(results, ())
        for s in reversed(block.statements):
            self._statement(s)
        del self._uses

    def of(self, a: Argument) -> Arm:
        return self._arm.get(a, ()) if isinstance(a, int) else ()

    def _use(self, arguments: Iterable[Argument], arm: Arm) -> None:
        for a in arguments:
            if isinstance(a, int):
                self._uses[a] = _common(self._uses[a], arm) if a in self._uses else arm

    def _statement(self, s: Statement) -> None:
        if isinstance(s, Switch):
            for case in s.cases:
                self._inside(case)
            return
        if isinstance(s, Loop):
            self._use((*s.carried, *s.next), ())
            self._inside(s.body)
            return
        if isinstance(s, Store):
            self._use((s.value,), ())
            return
        used = [self._uses[name] for name in s.defines if name in self._uses]
        if not used:
            return
        self._arm.update((name, self._uses[name]) for name in s.defines if name in self._uses)
        arm = used[0]
        for other in used[1:]:
            arm = _common(arm, other)
        if isinstance(s, Call):
            self._use(s.args, arm)
        elif isinstance(s, Instruction):
            local = self._local(s.name)
            if isinstance(local, Choice):
                for k, holds in zip(local.arms, (True, False), strict=True):
                    self._use((s.args[k],), (*arm, (local.condition, holds)))
            elif local is not None:
                self._use((s.args[k] for k in RULES[s.op].passes), arm)

    def _inside(self, block: Block) -> None:
        """Mark the outer values that a body uses as always needed."""
        for s in block.all_statements():
            if isinstance(s, Loop):
                self._use((*s.carried, *s.next), ())
            elif isinstance(s, Store):
                self._use((s.value,), ())
            elif isinstance(s, (Instruction, Call)):
                self._use(s.args, ())


def common_arm(arms: Iterable[Arm]) -> Arm:
    """The innermost arm that contains all of these."""
    rest = list(arms)
    shared = rest[0] if rest else ()
    for arm in rest[1:]:
        shared = _common(shared, arm)
    return shared


def _common(a: Arm, b: Arm) -> Arm:
    n = 0
    while n < min(len(a), len(b)) and repr(a[n]) == repr(b[n]):  # the value 1 is not the number 1.0
        n += 1
    return a[:n]
