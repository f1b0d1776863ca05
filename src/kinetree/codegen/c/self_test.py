"""A program in C that calls a function with stored arguments, and ends with 0 if the results are those that are stored.

It prints nothing and needs no more of the C library than the function itself, so that it runs on any processor.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.codegen.c.function import FunctionWriter, wrapped
from kinetree.codegen.c.real import Real
from kinetree.codegen.c.unit import length_name

__all__ = ["self_test"]

Numbers = Sequence[Sequence[float]]
"""The numbers of one port, for each sample."""


def self_test(
    unit: str,
    function: FunctionWriter,
    real: Real,
    given: Sequence[Numbers],
    expected: Sequence[Numbers],
    within: float,
) -> str:
    """The text of the program. `within`: how far a result may be off, as a part of the largest of its array or of 1."""
    inputs, count = len(function.program.inputs), len(expected[0])
    tables, results, calls, checks = [], [], [], []
    for k, (name, port) in enumerate(function.ports):
        if not port.size:
            continue
        numbers = given[k] if k < inputs else expected[k - inputs]
        rows = [f"    {{{', '.join(map(real.bare, row))}}}," for row in numbers]
        table = f"given_{name}" if k < inputs else f"expected_{name}"
        head = f"static const {real.type} {table}[{len(rows)}][{port.size}] = {{"
        tables.append("\n".join([head, *(line for row in rows for line in wrapped(row)), "};"]))
        calls.append(f"{table}[k]" if k < inputs else f"found_{name}")
        if k >= inputs:
            results.append(f"    static {real.type} found_{name}[{port.size}];")
            checks.append(
                f"        if (differ(found_{name}, {table}[k], {port.size})) {{\n            failed = 1;\n        }}"
            )
    if function.memory:
        results.append(f"    static {real.type} w[{length_name(function.name)}];")
        calls.append("w")
    return _TEMPLATE.format(
        unit=unit,
        type=real.type,
        one=real.literal(1.0),
        zero=real.literal(0.0),
        within=real.literal(within),
        abs=f"fabs{real.suffix}",
        tables="\n".join(tables),
        results="\n".join(results),
        count=count,
        call=f"{function.name}({', '.join(calls)});",
        checks="\n".join(checks),
    )


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
