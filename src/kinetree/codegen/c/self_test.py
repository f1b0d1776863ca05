"""A program in C that calls a function with stored arguments, and ends with 0 if the results are those that are stored.

It prints nothing and needs no more of the C library than the function itself, so that it runs on any processor.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.codegen.c.real import Real, wrapped
from kinetree.codegen.c.unit import length_name

__all__ = ["self_test"]

Rows = Sequence[Sequence[float]]
"""The numbers of one array, for each sample."""


def self_test(
    unit: str,
    function: str,
    real: Real,
    given: Sequence[tuple[str, Rows]],
    expected: Sequence[tuple[str, Rows]],
    within: float,
    memory: int,
    *,
    as_casadi: bool = False,
) -> str:
    """The text of the program.

    Args:
        unit: the name of the header.
        function: the function that is called.
        real: its numbers.
        given: the name of each argument, and its samples.
        expected: the same of each result.
        within: how far a result may be off, as a part of the largest of its array or of 1.
        memory: the length of the function's memory.
        as_casadi: whether it is called as CasADi does.
    """
    tables = [_table(f"given_{name}", rows, real) for name, rows in given if rows[0]]
    tables += [_table(f"expected_{name}", rows, real) for name, rows in expected if rows[0]]
    results = [f"    static {real.type} found_{name}[{len(rows[0])}];" for name, rows in expected if rows[0]]
    arguments = [f"given_{name}[k]" if rows[0] else "0" for name, rows in given]
    places = [f"found_{name}" if rows[0] else "0" for name, rows in expected]
    if memory:
        results.append(f"    static {real.type} w[{length_name(function)}];")
    checks = [
        f"        failed |= differ(found_{name}, expected_{name}[k], {len(rows[0])});"
        for name, rows in expected
        if rows[0]
    ]
    work = ["w"] if memory else []
    calls = [f"{function}({', '.join(x for x in [*arguments, *places, *work] if x != '0')});"]
    if as_casadi:
        calls = [
            f"const {real.type} *arg[{len(arguments) + 1}] = {{{', '.join([*arguments, '0'])}}};",
            f"{real.type} *res[{len(places) + 1}] = {{{', '.join([*places, '0'])}}};",
            f"failed |= {function}(arg, res, 0, {'w' if memory else '0'}, 0);",
        ]
    return _TEMPLATE.format(
        unit=unit,
        type=real.type,
        one=real.literal(1.0),
        within=real.literal(within),
        abs=f"fabs{real.suffix}",
        tables="\n".join(tables),
        results="\n".join(results),
        count=len(expected[0][1]),
        call="\n        ".join(line for call in calls for line in wrapped(call)),
        checks="\n".join(checks),
    )


def _table(name: str, rows: Rows, real: Real) -> str:
    lines = [line for row in rows for line in wrapped(f"    {{{', '.join(map(real.bare, row))}}},")]
    return "\n".join([f"static const {real.type} {name}[{len(rows)}][{len(rows[0])}] = {{", *lines, "};"])


_TEMPLATE = """\
/* Ends with 0 if {unit} computes what kinetree does, and with 1 otherwise. */
#include "{unit}.h"

#include <math.h>

{tables}

static int differ(const {type} *found, const {type} *expected, int size)
{{
    {type} largest = {one};
    int k;
    for (k = 0; k < size; ++k) {{
        if ({abs}(expected[k]) > largest) {{
            largest = {abs}(expected[k]);
        }}
    }}
    for (k = 0; k < size; ++k) {{
        const int is_nan = expected[k] != expected[k];
        const int is_near = (found[k] == expected[k]) || ({abs}(found[k] - expected[k]) <= {within} * largest);
        if (is_nan ? (found[k] == found[k]) : !is_near) {{
            return 1;
        }}
    }}
    return 0;
}}

int main(void)
{{
{results}
    int failed = 0;
    int k;

    for (k = 0; k < {count}; ++k) {{
        {call}
{checks}
    }}
    return failed;
}}
"""
