"""Forces of soft constraints at an acceleration that is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinetree.contact_model import Rigid, SoftConstraints
from kinetree.errors import OptionError
from kinetree.expr import Scalar

if TYPE_CHECKING:
    from kinetree.algorithms.convex_dynamics import Block

__all__ = ["check_exerted", "exerted"]


def exerted(block: Block, a: Sequence[Scalar]) -> list[Scalar]:
    """Forces of the rows of a soft constraint at an acceleration in the order of v: -s'(J a - a_ref), less pulls.

    Those of rigid contacts that are accurate or bounce do not follow from it: `check_exerted`.
    """
    from kinetree.algorithms.dot import dot
    from kinetree.algorithms.rigid_contact import has_rigid_contacts, in_one_round

    (rows,) = in_one_round([block]) if has_rigid_contacts([block]) else [block]
    x = [dot(row, a) - reference for row, reference in zip(rows.J, rows.reference, strict=True)]
    first, *others = rows.cost.at(x).force
    return [first - rows.pull, *others]


def check_exerted(function: str, constraints: SoftConstraints | None) -> None:
    """Reject contacts whose forces do not follow from the acceleration."""
    setting = None if constraints is None else constraints.setting
    if isinstance(setting, Rigid) and (setting.accurate or setting.restitution > 0.0):
        which = "accurate rigid contacts have no compliance" if setting.accurate else "bounces depend on their energy"
        raise OptionError(
            f"{function}: {which}, so the forces do not follow from the acceleration, and are not "
            "computed one by one; kt.contact_dynamics(…).forces has what all of them exert along the joints, and "
            "accurate=False contacts without restitution have forces one by one"
        )
