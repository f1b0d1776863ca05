"""A file's settings of the simulation itself, with MuJoCo's names and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["SimulationFlags", "SimulationOptions"]


@record(frozen=True, slots=True, repr=False)
class SimulationFlags:
    """Parts of a simulation that can be switched off and on."""

    constraint: bool = True
    equality: bool = True
    frictionloss: bool = True
    limit: bool = True
    contact: bool = True
    spring: bool = True
    damper: bool = True
    gravity: bool = True
    clampctrl: bool = True
    warmstart: bool = True
    filterparent: bool = True
    actuation: bool = True
    refsafe: bool = True
    sensor: bool = True
    midphase: bool = True
    eulerdamp: bool = True
    autoreset: bool = True
    nativeccd: bool = True
    island: bool = True
    multiccd: bool = True
    override: bool = False
    energy: bool = False
    fwdinv: bool = False
    invdiscrete: bool = False
    sleep: bool = False
    diagexact: bool = False
    ipc: bool = False
    speculative: bool = False

    def __repr__(self) -> str:
        return call_text(self)


@record(frozen=True, slots=True, repr=False)
class SimulationOptions:
    """How the file's simulator is to step; `gravity` is that of the file, even where a flag disables it."""

    REFERS: ClassVar[Mapping[str, str]] = {}

    timestep: float = 0.002
    """s"""
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    """m/s²"""
    wind: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Velocity of the medium, m/s."""
    magnetic: tuple[float, float, float] = (0.0, -0.5, 0.0)
    """Magnetic flux, for magnetometers."""
    density: float = 0.0
    """Density of the medium, kg/m³."""
    viscosity: float = 0.0
    """Viscosity of the medium, Pa·s."""
    integrator: str = "Euler"
    """"Euler", "RK4", "implicit", "implicitfast" or another of the simulator's."""
    cone: str = "pyramidal"
    """"pyramidal" or "elliptic": the friction cone."""
    jacobian: str = "auto"
    solver: str = "Newton"
    """"PGS", "CG" or "Newton"."""
    iterations: int = 100
    tolerance: float = 1e-8
    ls_iterations: int = 50
    ls_tolerance: float = 0.01
    noslip_iterations: int = 0
    noslip_tolerance: float = 1e-6
    ccd_iterations: int = 35
    ccd_tolerance: float = 1e-6
    sdf_iterations: int = 10
    sdf_initpoints: int = 40
    sleep_tolerance: float = 0.001
    impratio: float = 1.0
    """Stiffness of friction relative to that of normal forces."""
    override_margin: float = 0.0
    override_solref: tuple[float, float] = (0.02, 1.0)
    override_solimp: tuple[float, ...] = (0.9, 0.95, 0.001, 0.5, 2.0)
    override_friction: tuple[float, ...] = (1.0, 1.0, 0.005, 0.0001, 0.0001)
    disabled_actuator_groups: tuple[int, ...] = ()
    flags: SimulationFlags = SimulationFlags()

    def __repr__(self) -> str:
        return call_text(self)
