"""The four robots every benchmark uses, from the `example-robot-data` wheel."""

from __future__ import annotations

import sysconfig
import warnings
from dataclasses import dataclass
from pathlib import Path

import kinetree as kt

__all__ = ["FOLDER", "ROBOTS", "Robot"]

FOLDER = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/share/example-robot-data/robots"


@dataclass(frozen=True)
class Robot:
    """A robot file and whether its base floats."""

    name: str
    file: str
    floating: bool

    @property
    def path(self) -> str:
        path = FOLDER / self.file
        if not path.exists():
            raise SystemExit(f"{path} is missing: pip install 'kinetree[bench]'")
        return str(path)

    def load(self) -> kt.Model:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kt.errors.ModelWarning)
            return kt.load(self.path, floating_base=self.floating, mimic=False)


ROBOTS = (
    Robot("UR5", "ur_description/urdf/ur5_robot.urdf", False),
    Robot("Panda", "panda_description/urdf/panda.urdf", False),
    Robot("ANYmal", "anymal_b_simple_description/robots/anymal.urdf", True),
    Robot("Talos", "talos_data/robots/talos_reduced.urdf", True),
)
