"""What products with derivatives cost, in times of the function: three at most forward, five backward."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from kinetree.compiler.differentiation import derived, specialized
from tests import functions
from tests.robots import arm3


@pytest.mark.parametrize("name", functions.FIXED)
def test_products_with_derivatives_cost_little_more_than_the_function(name: str) -> None:
    function, robot = functions.FIXED[name], arm3()
    definition = function.definition
    signature = inspect.signature(function).parameters
    given = functions.options_of(function, list(robot.bodies)[-1])
    defaults = {option: signature[option].default for option in definition.options if option not in given}
    options = {option: check(robot, (defaults | given)[option]) for option, check in definition.options.items()}

    def operations(definition: Any) -> int:
        return specialized(definition, robot, options, (), (), None).program().operation_counts().total()

    own = operations(definition)
    by = tuple(argument for argument, _ in definition.inputs)
    assert operations(derived(definition, "jvp", by)) <= 3 * own
    assert operations(derived(definition, "vjp", by)) <= 5 * own
