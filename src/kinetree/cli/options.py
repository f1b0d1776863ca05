"""The arguments and options of all commands, with their help; a command's signature names these types."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from kinetree.errors import OptionError
from kinetree.inputs import number_between

__all__ = [
    "DEFAULT_ROBOT", "ContactMayStandAlone", "Contacts", "FrictionForm", "Ground", "Integrator", "Learning", "Peer",
    "Shapes", "SideBySide",
]  # fmt: skip

DEFAULT_ROBOT = "ragdoll"
"""The robot of the zoo that `kinetree simulate` takes."""

Contacts = StrEnum("Contacts", ["all", "partial", "mujoco", "compliant", "rigid"])
FrictionForm = StrEnum("FrictionForm", ["coulomb", "sigmoid", "stribeck"])
Ground = StrEnum("Ground", ["nothing", "ground", "slope", "terrain"])
Learning = StrEnum("Learning", ["ppo", "ars"])
Integrator = StrEnum(
    "Integrator", ["auto", "rk4", "semi_implicit_euler", "symplectic_euler", "implicitfast", "discrete", "rk45"]
)
Peer = StrEnum("Peer", ["mujoco"])
Shapes = StrEnum("Shapes", ["visual", "collision", "both"])
SideBySide = StrEnum("SideBySide", {"one": "one", "ghosts": "ghosts", "side_by_side": "side by side"})

# Panels of the help; an option without one is in the first.
_START, _FORCES, _CONTACT, _LOG = "Start", "Forces", "Contact", "Logs"
_CODE, _OUTPUT, _PAGE, _ROBOT = "C code", "Output", "Page", "Robot file"


def _robots(incomplete: str) -> list[str]:
    """Robots of the zoo that a shell offers, and files after them; without any, it offers files in its own way."""
    from glob import escape, glob

    from kinetree import zoo

    names = [name for name in zoo.names() if name.startswith(incomplete)]
    return names and [*names, *glob(f"{escape(incomplete)}*")]


def _offered(module: str, names: str = "__all__") -> Any:
    """An option of Typer with which a shell offers names of a module, which is imported only then."""
    from importlib import import_module

    def complete(incomplete: str) -> list[str]:
        return [x for x in getattr(import_module(module), names) if x.islower() and x.startswith(incomplete)]

    return {"autocompletion": complete}


def _argument(metavar: str, help: str, **more: Any) -> Any:
    return typer.Argument(metavar=metavar, help=help, show_default=False, **more)


def _option(flags: str, metavar: str | None, help: str, panel: str | None = None, **more: Any) -> Any:
    """An option; `metavar` is empty for a switch, and None if the choices of the type are shown in its place."""
    return typer.Option(*flags.split(), metavar=metavar, help=help, rich_help_panel=panel, **more)


_optional = partial(_option, show_default=False)
"""An option that need not be given; its help describes the default."""


def _between(low: float, high: float = math.inf) -> Callable[[float | None], float | None]:
    """A callback that checks a number before anything is loaded or computed: wrong usage unless between."""

    def check(value: float | None) -> float | None:
        try:
            return None if value is None else number_between("it", value, low, high)
        except OptionError as error:
            raise typer.BadParameter(str(error)) from None

    return check


def _speed(value: float | None) -> float | None:
    if value is not None and not value > 0.0:
        raise typer.BadParameter(f"it must be a positive number or inf, not {value:g}")
    return value


def _print_version(wanted: bool) -> None:
    if wanted:
        from kinetree import __version__

        typer.echo(f"kinetree {__version__}")
        raise typer.Exit


_positive = _between(0.0)
_A_ROBOT = "A robot file, or a robot of the zoo."


class ContactMayStandAlone(TyperCommand):
    """A command in which --contact stands alone for the first of its values, for which the library has no way.

    The next word is its value only if it is one of them, so `--contact robot.urdf` names a robot; a word that is
    neither is rejected.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        values, completed = [*Contacts], list[str]()
        for k, word in enumerate(args):
            completed.append(word)
            after = args[k + 1] if k + 1 < len(args) else None
            if word == "--contact" and after not in values:
                completed.append(values[0])
                if after and not (after.startswith("-") or ctx.resilient_parsing or _may_be_model(after, args)):
                    text = f"{after!r} is not one of {', '.join(values)}, and not a robot"
                    raise typer.BadParameter(text, ctx, param_hint=word)
        return super().parse_args(ctx, completed)


def _may_be_model(word: str, words: Sequence[str]) -> bool:
    """Whether a word among all may be a robot: a file, an address, one of the zoo or of a `--source`."""
    from kinetree import zoo

    is_elsewhere = any(x.startswith("--source") for x in words)
    return is_elsewhere or os.path.exists(word) or not word.isidentifier() or word in zoo.names()


# A table, a row per option.
# fmt: off

# All commands together
Version = Annotated[bool, _option(
    "--version", "", "Print the version and exit.", callback=_print_version, is_eager=True)]
Debug = Annotated[bool, _option("--debug", "", "Show the traceback of an error.")]

# Arguments
Model = Annotated[str, _argument("ROBOT", _A_ROBOT, autocompletion=_robots)]
ModelOrDefault = Annotated[str | None, _argument(
    "ROBOT", f"A robot file, or a robot of the zoo; by default the zoo's {DEFAULT_ROBOT}.", autocompletion=_robots)]
FirstModel = Annotated[str, _argument("ROBOT", _A_ROBOT, autocompletion=_robots)]
SecondModel = Annotated[str | None, _argument("OTHER", "A second robot to compare with.", autocompletion=_robots)]
Models = Annotated[list[str], _argument("ROBOT", "Robot files, or robots of the zoo.", autocompletion=_robots)]
ConvertedFile = Annotated[Path, _argument("FILE", "The file to write; its suffix says in which format.")]
Shown = Annotated[str, _argument(
    "ROBOT|MOTION", "A robot file or a robot of the zoo; or the file or folder of a motion, such as kinetree "
    "simulate writes.", autocompletion=_robots)]
Motion = Annotated[Path, _argument("MOTION", "The file or folder of a motion, or of many.")]
SecondMotion = Annotated[Path | None, _argument("OTHER", "A second motion to compare the first with.")]
LogFile = Annotated[Path, _argument("LOG", "A log: .csv, .parquet, .npz, .mcap, .bag, .db3.")]
StudyFile = Annotated[Path, _argument("STUDY", "The file of the study, .toml; `kinetree docs sweeps` describes it.")]
Words = Annotated[list[str], _argument("WORD", "A topic, or a name in another library.")]
Page = Annotated[str, _argument("PAGE", "A page, or one of its sections: simulation#controllers.")]

# Loading a robot
FloatingBase = Annotated[bool | None, _optional(
    "--floating-base/--fixed-base", "", "Let the root move freely, or fix it to the world. By default it is as the "
    "file says; a URDF file's is fixed, and that of a zoo robot as is natural.", _ROBOT)]
Mimic = Annotated[bool, _option(
    "--mimic/--no-mimic", "", "Joints that mimic others follow them, or move independently.", _ROBOT)]
PackageRoots = Annotated[list[Path] | None, _optional(
    "--package-roots --package-root", "FOLDER", "A folder in which meshes may be looked up; may be repeated.", _ROBOT,
    exists=True, file_okay=False)]
RosPackages = Annotated[bool, _option(
    "--ros-packages", "", "Look meshes up in the packages of ROS_PACKAGE_PATH and AMENT_PREFIX_PATH, too.", _ROBOT)]
Source = Annotated[str | None, _optional(
    "--source", "PACKAGE", "Take ROBOT as the name of a robot in an installed package, such as example-robot-data, "
    "gymnasium, robosuite or robot_descriptions.", _ROBOT)]
Srdf = Annotated[Path | None, _optional(
    "--srdf", "FILE", "An SRDF file for the robot: groups, named states and disabled pairs, checked with it.", _ROBOT,
    exists=True, dir_okay=False)]
Xacro = Annotated[bool, _option(
    "--xacro", "", "Expand a xacro file, a program that can run any code in your name: only one that you trust.",
    _ROBOT)]
XacroArgs = Annotated[list[str] | None, _optional(
    "--xacro-arg", "NAME=VALUE", "An argument of a xacro file, which is expanded then; may be repeated.", _ROBOT)]

# Output
Json = Annotated[bool, _option("--json", "", "Print JSON instead, with numbers that are not rounded.", _OUTPUT)]
Sarif = Annotated[bool, _option("--sarif", "", "Print SARIF 2.1.0, for code-scanning services.", _OUTPUT)]
Quiet = Annotated[bool, _option("--quiet", "", "Print nothing but errors and warnings.", _OUTPUT)]
Lossy = Annotated[bool, _option(
    "--lossy", "", "Leave out everything that the new file's format cannot hold.", _OUTPUT)]
Prefix = Annotated[Path | None, _optional(
    "--out -o", "PREFIX", "Where to write: PREFIX.npz and PREFIX.png, replacing existing files; by default the robot's "
    "name. A folder that is missing is made.", _OUTPUT)]
OutputFolder = Annotated[Path | None, _optional(
    "--output-dir", "FOLDER", "The folder to write into; made if missing.", _OUTPUT)]
PlotFile = Annotated[Path | None, _optional(
    "--out -o", "FILE", "The picture to write: .png, .svg or .pdf. By default it is beside the motion, named like it.",
    _OUTPUT)]
CodeFolder = Annotated[Path, _option("--out -o", "FOLDER", "Where the files go; made if it is missing.", _OUTPUT)]
StudyFolder = Annotated[Path | None, _optional(
    "--out -o", "FOLDER", "Where the results go; by default as the file says, or a folder of its name beside it.",
    _OUTPUT)]
IdentifiedFile = Annotated[Path | None, _optional(
    "--out -o", "FILE", "The robot file to write; by default NAME_identified, in the format of ROBOT.", _OUTPUT)]
Film = Annotated[Path | None, _optional(
    "--film", "FILE", "Write a film of the motion, too: .mp4, .gif or .webp. Of several motions the first 16 are side "
    "by side.", _OUTPUT)]
Picture = Annotated[Path | None, _optional(
    "--picture", "FILE.png", "Write a picture instead, which needs no browser and no screen.", _OUTPUT)]
Html = Annotated[Path | None, _optional(
    "--html", "FILE.html", "Write the page to a file instead, which plays in any browser, offline.", _OUTPUT)]

# kinetree simulate
Duration = Annotated[float, _option("--duration -t", "SECONDS", "Duration of the motion.", callback=_positive)]
Dt = Annotated[float, _option("--dt", "SECONDS", "Time step.", callback=_positive)]
IntegratorName = Annotated[Integrator, _option(
    "--integrator", "NAME", "rk4: order four. symplectic_euler: order one, all forces at the beginning of the step; "
    "semi_implicit_euler: steady however stiff friction is; implicitfast: with all forces that depend on velocities; "
    "discrete: with contacts and springs, too; rk45: order five, in steps as long as --rtol and --atol allow, and --dt "
    "is the time between rows. auto: rk4 unless friction is too stiff for it; with contacts that of an MJCF file, or "
    "discrete.")]
Rtol = Annotated[float | None, _optional(
    "--rtol", "ERROR", "With rk45 the error that a step may have, relative to 1 rad, 1 m and each velocity; by default "
    "1e-6.", callback=_positive)]
Atol = Annotated[float | None, _optional(
    "--atol", "ERROR", "Besides that, in rad, m, rad/s and m/s; by default 1e-8.", callback=_positive)]
ComparedPeer = Annotated[Peer | None, _optional(
    "--compare", None, "Compare the motion with another library, step after step and term by term (of several motions "
    "the first): prints the first step and the first term at which they diverge; the exit code is 1 then.")]
StartQ = Annotated[str | None, _optional(
    "--q", "VALUES", "Initial configuration (rad, m): 0.1,-0.2,… for every coordinate, or joint=value,… for some. "
    "Without it, --v, torques and commands, a robot on a fixed base starts slightly away from the pose of its file, or "
    "its neutral one.", _START)]
StartV = Annotated[str | None, _optional("--v", "VALUES", "Initial velocity (rad/s, m/s), likewise.", _START)]
Keyframe = Annotated[str | None, _optional(
    "--keyframe", "NAME", "Begin at this keyframe of an MJCF file, with its velocity; --q and --v pairs go on top.",
    _START)]
Random = Annotated[bool, _option(
    "--random", "", "Begin at a random configuration within the limits; --q pairs go on top.", _START)]
StartSeed = Annotated[int | None, _optional(
    "--seed", "NUMBER", "Seed of the starts and hills; unless there are --samples or hills it implies --random.",
    _START, min=0)]
StartCount = Annotated[int | None, _optional(
    "--samples -n", "NUMBER", "Simulate this many motions that begin near the start: every joint, and the orientation "
    "of a free base, moved by uniformly distributed angles up to --spread. With --random, each begins anywhere.",
    _START, min=1, max=100_000)]
Spread = Annotated[float, _option(
    "--spread", "RADIANS", "How far starts are from each other; sliding joints move a tenth of it in metres.", _START,
    min=0.0, callback=_between(-math.inf))]
Tau = Annotated[str | None, _optional(
    "--tau", "VALUES", "Constant torques (N·m, N): 0.1,-0.2,… for every degree of freedom, or joint=value,… for some.",
    _FORCES)]
TauFile = Annotated[Path | None, _optional(
    "--tau-file", "FILE", 'Torques from a file, one row per step: .csv (a header may name the joints and a column '
    '"time"), .npy, or .npz with "tau" and perhaps "time".', _FORCES, exists=True, dir_okay=False)]
Ctrl = Annotated[str | None, _optional(
    "--ctrl", "VALUES", "Constant commands of the actuators of an MJCF file: 0.1,-0.2,… for each, or actuator=value,… "
    "for some, the others zero.", _FORCES)]
CtrlFile = Annotated[Path | None, _optional(
    "--ctrl-file", "FILE", 'Commands from a file, likewise: .csv (a header may name actuators), .npy, or .npz with '
    '"ctrl".', _FORCES, exists=True, dir_okay=False)]
PassiveForces = Annotated[str, _option(
    "--passive", "NAMES", "Which passive forces of the joints act: all, none, or some of damping,friction,spring.",
    _FORCES)]
Limits = Annotated[bool, _option(
    "--limits", "", "Motors keep to their effort limits and drive no joint beyond its velocity limit.", _FORCES)]
ContactModel = Annotated[Contacts | None, _optional(
    "--contact", None, "Shapes touch each other and the world, joints end at their limits, and dry friction sticks. "
    "Alone, or all: everything that the robot has; partial: what can be computed of it; mujoco, compliant, rigid: how "
    "hard things are.", _CONTACT)]
OnGround = Annotated[Ground | None, _optional(
    "--on", None, "Put the robot on a level ground, a slope or hills, with --contact. By default nothing, except the "
    "ragdoll, which is on a slope.", _CONTACT)]
Angle = Annotated[float, _option(
    "--angle", "RADIANS", "How steep a slope is; it falls along x.", _CONTACT,
    callback=_between(-math.pi / 2.0, math.pi / 2.0))]
Live = Annotated[bool, _option(
    "--view", "", "Show the motion in the browser while it is computed, in real time; its bodies can be pushed there "
    "with the mouse. The page stays until Ctrl-C.", _PAGE)]
Speed = Annotated[float | None, _optional(
    "--speed", "FACTOR", "How many seconds of the motion pass per second; inf for as fast as it goes.  [default: 1 "
    "with --view, otherwise inf]", _PAGE, callback=_speed)]

# kinetree view
RestQ = Annotated[str | None, _optional(
    "--q", "VALUES", "Where a robot at rest is first (rad, m): 0.1,-0.2,… for every coordinate, or joint=value,… for "
    "some.")]
MotionRobot = Annotated[str | None, _optional(
    "--robot", "ROBOT", "The robot of a motion whose file does not contain it, as files of old versions do not.")]
DrawnShapes = Annotated[Shapes, _option("--shapes", None, "Which shapes are drawn.")]
SeenSamples = Annotated[SideBySide, _option("--samples", None, "How several motions of a batch are seen.")]
ShownParts = Annotated[list[str] | None, _optional(
    "--show", "NAME", "Shown at first, besides shapes: frames, axes, 'center of mass', contacts, velocities, "
    "names; may be repeated.")]
Host = Annotated[str, _option(
    "--host", "ADDRESS", "The address to listen on; the page is for this machine only unless it is another, such as "
    "0.0.0.0; its address then has a secret in it.", _PAGE)]
AllowHost = Annotated[list[str] | None, _optional(
    "--allow-host", "NAME", "A name under which browsers may open the page, besides those of this machine: that of a "
    "proxy; may be repeated.", _PAGE)]
Port = Annotated[int | None, _optional(
    "--port", "NUMBER", "The port to listen on; by default the first free one from 8080 on.", _PAGE)]
Browser = Annotated[bool | None, _optional(
    "--browser/--no-browser", "", "Open the page in a browser, or not; by default if there is a screen.", _PAGE)]

# kinetree plot
What = Annotated[str | None, _optional(
    "--what", "NAMES", "Some of positions, velocities, accelerations, torques, energies, balance, contacts, and names "
    "of recorded quantities, or patterns such as 'sensor.*', separated by commas; by default positions, energies and "
    "balance.")]
Joints = Annotated[str | None, _optional(
    "--joints", "PATTERNS", "Only joints whose names match one of these: knee,left_* and so on; by default all that "
    "move.")]
PlottedSamples = Annotated[str | None, _optional(
    "--samples", "NUMBERS", "Only these motions of a batch, such as 0,3 or 0-9; by default all, as bands if they are "
    "many.")]

# kinetree bench, check, compare, convert, docs, find and sweep
BatchSize = Annotated[int, _option("--samples -n", "NUMBER", "Samples in a batch.", min=1, max=1_000_000)]
Strict = Annotated[bool, _option("--strict", "", "Warnings end with exit code 1, too.")]
Notes = Annotated[bool, _option("--notes/--no-notes", "", "Show what was assumed, kept as data or skipped.", _OUTPUT)]
Peers = Annotated[str | None, _optional(
    "--with", "NAMES", "Libraries that read the file too (OTHER, if given), such as mujoco,pinocchio,drake. By default "
    "all that are installed, or none if OTHER is given.")]
StateCount = Annotated[int, _option("--samples -n", "NUMBER", "Random states.", min=1, max=10_000)]
StateSeed = Annotated[int, _option("--seed", "NUMBER", "Seed of the random states.", min=0)]
Tolerance = Annotated[float, _option("--tolerance", "ERROR", "The largest relative error that counts as equal.")]
Format = Annotated[str | None, _optional("--format", "NAME", "The format, if the suffix does not say it.", _OUTPUT,
    **_offered("kinetree.io", "FORMATS"))]
Text = Annotated[bool, _option("--print -p", "", "Print the page here.")]
Most = Annotated[int, _option("--most -n", "NUMBER", "Rows of each kind.", min=1, max=100)]
Scheduler = Annotated[str | None, _optional(
    "--scheduler", "ADDRESS", "The address of a Dask scheduler, such as tcp://10.0.0.5:8786, whose workers compute. By "
    "default this process does, on all its cores.")]

# kinetree export
Function = Annotated[str, _option("--function -f", "NAME", "One of kinetree's functions: aba, rnea, crba, …",
    **_offered("kinetree.dynamics"))]
Settings = Annotated[list[str] | None, _optional(
    "--option", "NAME=VALUE", "An option of the function, such as frame=tool or steps=100; may be repeated.")]
ForceFrames = Annotated[list[str] | None, _optional(
    "--f-ext", "FRAME", "A frame on which an external force acts; it becomes an argument. May be repeated.")]
Parameters = Annotated[list[str] | None, _optional(
    "--parameter", "NAME", "A parameter of the robot that becomes an argument, such as body.hand.mass; may be "
    "repeated.")]
Derivative = Annotated[list[str] | None, _optional(
    "--derivative", "MODE", "forward (tangents) or reverse (cotangents); reverse and then forward for second "
    "derivatives.")]
By = Annotated[list[str] | None, _optional(
    "--by", "NAME", "An argument to differentiate by; may be repeated.")]
Dtype = Annotated[str, _option(
    "--dtype", "NAME", "float64, which is double in C, or float32, which is float.", _CODE)]
CodeName = Annotated[str | None, _optional(
    "--name", "NAME", "Name of the C function and of its files; by default ROBOT_FUNCTION.", _CODE)]
Unroll = Annotated[bool | None, _optional(
    "--unroll/--loops", "", "Write every body's arithmetic out, or loop over bodies; by default the size decides.",
    _CODE)]
Interface = Annotated[str, _option(
    "--interface", "NAME", "plain, or casadi for functions that casadi.external loads.", _CODE)]
Derivatives = Annotated[int | None, _optional(
    "--derivatives", "NUMBER", "How often CasADi can differentiate: 0, 1 or 2.", _CODE)]

# kinetree train and play
Task = Annotated[str, _argument(
    "TASK", "The task to learn: quadruped, hopper, cart_pole, …", **_offered("kinetree.learning.tasks", "NAMES"))]
TaskOptions = Annotated[list[str] | None, _argument(
    "NAME=VALUE", "Options of the task, such as max_steps=500.")]
RunFolder = Annotated[Path, _argument("RUN", "The folder of a training.")]
TrainedFolder = Annotated[Path | None, _optional(
    "--out -o", "FOLDER", "Where the training goes; by default runs/TASK.", _OUTPUT)]
LearningAlgorithm = Annotated[Learning, _option(
    "--algorithm", None, "ppo: proximal policy optimisation, which needs PyTorch; ars: augmented random search.")]
StepCount = Annotated[float | None, _optional(
    "--steps", "NUMBER", "Steps of all worlds together, such as 5e6; by default as the task says, or a million.",
    callback=_positive)]
TrainingSeed = Annotated[int, _option("--seed", "NUMBER", "Seed of everything that is random.", min=0)]
WorldCount = Annotated[int | None, _optional(
    "--worlds", "NUMBER", "Worlds that are stepped at once, with ppo.", min=1)]
TrainingSettings = Annotated[list[str] | None, _optional(
    "--set", "NAME=VALUE", "A setting of the algorithm, such as learning_rate=3e-4 (kt.learning.PPO and "
    "kt.learning.ARS have all); may be repeated.")]
Resume = Annotated[bool, _option("--resume", "", "Go on with the training in the folder, if there is one.")]
EvaluateEvery = Annotated[int, _option(
    "--evaluate-every", "NUMBER", "Iterations between episodes whose motions are kept; 0 for none.", min=0)]
EpisodeCount = Annotated[int | None, _optional(
    "--worlds -n", "NUMBER", "How many episodes are shown.", min=1, max=64)]
EpisodeSeed = Annotated[int, _option("--seed", "NUMBER", "Seed of the episodes.", min=0)]
EpisodeSteps = Annotated[int | None, _optional(
    "--steps", "NUMBER", "The longest episode; by default as the task says.", min=1)]
Strip = Annotated[Path | None, _optional(
    "--strip", "FILE.png", "Write a picture of some moments side by side.", _OUTPUT)]
MotionFile = Annotated[Path | None, _optional(
    "--motion", "FILE.npz", "Write the motion, with observations, actions and rewards.", _OUTPUT)]

# kinetree identify
Drives = Annotated[bool, _option("--drives", "", "Identify armature, damping and dry friction of the joints, too.")]
DryFriction = Annotated[FrictionForm, _option(
    "--friction", None, "The form of dry friction, with --drives. coulomb: with the robot's own speed around rest; "
    "sigmoid: with a speed that is found; stribeck: falling from rest to a speed that is found, which the report "
    "gives, since robot files have no place for it.")]
Offsets = Annotated[bool, _option("--offsets", "", "Let every torque have a constant error.")]
Lock = Annotated[list[str] | None, _optional(
    "--lock", "JOINT", "A joint that is not in the log and stayed at its neutral position; may be repeated.")]
Prior = Annotated[float, _option(
    "--prior-deviation", "NUMBER", "How far ROBOT's own numbers are thought to be from the truth: 1 is 100 %.",
    callback=_positive)]
MoreLogs = Annotated[list[Path] | None, _optional(
    "--log", "LOG", "Another log of the same robot; may be repeated.", _LOG, exists=True)]
Validation = Annotated[Path | None, _optional(
    "--validate", "LOG", "A log of another motion to compare torques with.", _LOG, exists=True)]
Cutoff = Annotated[float | None, _optional(
    "--cutoff", "HZ", "Cutoff of the low-pass filter that gives velocities and accelerations; not needed if the log "
    "has both.", _LOG, callback=_positive)]
Rate = Annotated[float | None, _optional(
    "--resample", "HZ", "Interpolate a log whose times are not even first.", _LOG, callback=_positive)]
Bridge = Annotated[float | None, _optional(
    "--bridge", "SECONDS", "The longest gap of a log that --resample may cross; by default none.", _LOG,
    callback=_positive)]
Topic = Annotated[str | None, _optional(
    "--topic", "NAME", "The topic of the joint states in files of messages.", _LOG)]
IdentifiedPlot = Annotated[Path | None, _optional(
    "--plot", "FILE", "Draw torques and parameters (.png, .svg, .pdf).", _OUTPUT)]
Table = Annotated[bool, _option("--table", "", "Print every parameter with its deviation.", _OUTPUT)]
