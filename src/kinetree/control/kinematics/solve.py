"""Inverse kinematics as a function: arguments checked, targets in one call, unreachable targets reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from kinetree.control.kinematics.arguments import (
    checked_limits,
    checked_number,
    checked_start,
    checked_targets,
    checked_tasks,
)
from kinetree.control.kinematics.result import InverseKinematics
from kinetree.control.kinematics.solver import solver_of
from kinetree.control.tasks import Task
from kinetree.model import Model, check_robot
from kinetree.programs.program import Program

__all__ = ["inverse_kinematics", "inverse_kinematics_program"]


def inverse_kinematics(
    robot: Model,
    tasks: Task | Sequence[Task],
    targets: Any,
    q0: ArrayLike | None = None,
    *,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    tolerance: float = 1e-6,
    starts: int = 50,
    evaluations: int = 2000,
    seed: int = 0,
    threads: int | None = None,
) -> InverseKinematics:
    """Configurations in which tasks are met: of one target, or of many in one call.

    A search goes from q0 by Levenberg–Marquardt steps within the limits. Where it is stuck, it begins again from
    another configuration, until the tasks of the first priority are met, or until all starts are used up; then the
    nearest configuration that was found is improved until its cost, half the sum of weight × error², is a minimum.
    Tasks of lower priority are met afterwards, as well as those before allow, from the configuration found; they do not
    make the search begin again. A sample's result is the same, to the bit, whichever others are computed with it.

    Args:
        robot: the robot.
        tasks: a task, or several in a list: `kt.control.Pose`, `Position`, `Orientation`, `Axis`, `LookAt`,
            `CenterOfMass`, `Posture`, `keep_apart`, with weights and priorities.
        targets: for one task its target (…, *shape), for a list of tasks a list with one of each that has a target.
            Leading axes broadcast.
        q0: configuration (…, nq) to start from, moved into the limits; by default the middle of the limits, and the
            neutral configuration without limits.
        lower, upper: limits (…, nq); by default `robot.lower` and `robot.upper`. Infinite without a limit.
        tolerance: largest error of a target that counts as reached, m and rad.
        starts: from how many configurations the search begins at most; 1 is q0 alone. The others are a sequence that
            fills the limits evenly (half a turn or a metre to both sides of q0 without limits), with attitudes of
            spherical joints spread evenly over all; free joints begin as in q0.
        evaluations: at how many configurations errors are computed at most.
        seed: another whole number gives another sequence of starts.
        threads: how many threads may share a large batch; by default as many as there are cores.

    Returns:
        A `kt.control.InverseKinematics`: q, errors, reached, starts, evaluations, limits. A target that was not reached
        has `reached` False, its errors say how far it is, and `at_limits` and the text which joints are at limits
        there. One with NaN is not reached either, from q0.

    Raises:
        OptionError: tasks, limits or numbers are not allowed values.
        NameNotFoundError: the robot has no frame or joint of a name.
        ConfigurationError: a q0 or a target is not a configuration, or a matrix is not a rotation.
        ShapeError, DTypeError: as for `kt.aba`.

    Source: Sugihara, "Solvability-unconcerned inverse kinematics by the Levenberg–Marquardt method", IEEE Transactions
    on Robotics 27 (2011); more in `kinetree docs inverse_kinematics`.

    >>> import kinetree as kt, numpy as np
    >>> arm = kt.zoo.load("arm7")
    >>> targets = kt.frame_placement(arm, arm.random(0, size=100), "tool")
    >>> found = kt.control.inverse_kinematics(arm, kt.control.Pose("tool"), targets)
    >>> bool(found.reached.all())
    True
    >>> bool(np.allclose(kt.frame_placement(arm, found.q, "tool"), targets, atol=1e-5))
    True
    """
    check_robot(robot)
    single, several = isinstance(tasks, Task), checked_tasks(tasks)
    solver, weights = solver_of(robot, several)
    arrays = checked_targets(robot, several, [targets] if single else targets)
    limits = solver.limits if lower is None and upper is None else checked_limits(solver.coordinates, lower, upper)
    arguments = [
        solver.start(limits) if q0 is None else checked_start(robot, q0), *arrays, *limits, weights,
        checked_number("tolerance", tolerance, 0.0), float(checked_number("starts", starts, 1, whole=True)),
        float(checked_number("evaluations", evaluations, 1, whole=True)), solver.shift(seed),
    ]  # fmt: skip
    return solver.run(arguments, threads)


def inverse_kinematics_program(robot: Model, tasks: Task | Sequence[Task]) -> Program:
    """The program behind `inverse_kinematics`, to be compiled bare, differentiated, exported, or put into others.

    `kt.jvp`, `kt.vjp` and `kt.jacobian` say how q and errors change with targets, limits and weights, by the implicit
    function theorem: the search itself is not differentiated. Where a target is reached, the configuration follows it
    by the shortest displacement; coordinates at a limit move with the limit. By q0 and by the numbers of the search
    derivatives are zero. Where a target is not reached, or lower priorities are not met, they are those of a damped
    Gauss–Newton step: finite, but not exact. Second derivatives are not available.

    Args:
        robot: the robot.
        tasks: a task, or several in a list. Their priorities are part of the program, their weights are an argument.

    Returns:
        A `kt.programs.Program` with the arguments q0 (nq,); target, or target_0, target_1, … for several tasks; lower
        and upper (nq,); weights, one per row of all tasks; tolerance, starts and evaluations, one number each; and
        shift, which moves the sequence of starts: numbers from 0 to 1, one per coordinate of joints about or along an
        axis, then three per spherical joint. It returns q, errors, reached, starts and evaluations. `operation_counts`
        counts a million evaluations, which no search takes.

    Raises:
        OptionError, NameNotFoundError: as for `inverse_kinematics`.

    >>> import kinetree as kt, numpy as np
    >>> arm = kt.zoo.load("arm6")
    >>> ik = kt.control.inverse_kinematics_program(arm, kt.control.Position("tool"))
    >>> q0, numbers = np.zeros(6), (np.ones(3), 1e-6, 5.0, 200.0, np.zeros(6))
    >>> bool(ik(q0, [0.3, 0.2, 0.4], arm.lower, arm.upper, *numbers).reached)
    True
    """
    check_robot(robot)
    return solver_of(robot, checked_tasks(tasks))[0].program
