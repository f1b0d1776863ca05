"""URDF text of random trees whose links and joints come in no particular order, some of the joints fixed."""

from __future__ import annotations

import random

__all__ = ["shuffled_urdf"]

_LETTERS = "abXYZ019_- .é"
"""Letters for names: upper case, digits and others sort in ways of their own."""
_INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def shuffled_urdf(seed: int) -> str:
    """A tree of 4 to 12 joints with random names; its root is called "base"."""
    rng = random.Random(seed)
    names: list[str] = []
    for _ in range(rng.randint(4, 12)):
        names.append("".join(rng.choices(_LETTERS, k=rng.randint(1, 4))).strip() + str(len(names)))
    rng.shuffle(names)
    links = ["base"]
    elements = []
    for k, name in enumerate(names):
        kind = "fixed" if rng.random() < 0.3 else rng.choice(["continuous", "prismatic"])
        limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/>' if kind == "prismatic" else ""
        elements.append(
            f'<joint name="{name}" type="{kind}"><parent link="{rng.choice(links)}"/><child link="link{k}"/>'
            f'<axis xyz="0 0 1"/>{limit}</joint>'
        )
        links.append(f"link{k}")
    elements += [f'<link name="{link}">{_INERTIAL}</link>' for link in links]
    rng.shuffle(elements)
    return f'<?xml version="1.0" encoding="UTF-8"?><robot name="shuffled">{"".join(elements)}</robot>'
