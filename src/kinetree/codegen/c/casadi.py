"""CasADi's calling convention for functions in C, around functions of plain arrays.

A function gets an array of pointers to its arguments and one to its results, working memory, and nothing else. Numbers
of a matrix are stored column by column, and only those that are not always zero. A pointer may be null: an argument is
zero then, and a result is not asked for. Further functions report names, sizes and patterns, so `casadi.external` needs
nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.codegen.c.function import FunctionWriter
from kinetree.codegen.c.real import wrapped
from kinetree.expr import Port
from kinetree.records import record

__all__ = ["HEADER", "Block", "casadi_function", "dense", "order", "zero"]

HEADER = """\
#ifndef casadi_real
#define casadi_real double
#endif
#ifndef casadi_int
#define casadi_int long long int
#endif
#ifndef CASADI_SYMBOL_EXPORT
#if defined(_WIN32)
#define CASADI_SYMBOL_EXPORT __declspec(dllexport)
#else
#define CASADI_SYMBOL_EXPORT
#endif
#endif
"""
"""Definitions in the header, as in files that CasADi writes itself."""


@record(frozen=True, slots=True)
class Block:
    """An argument or a result as CasADi sees it, and where its numbers are in a port of the plain function."""

    name: str
    rows: int
    columns: int
    nonzeros: tuple[tuple[int, int], ...]
    """The (column, row) of each number that is not always zero, in this order."""
    port: int = 0
    """The number of the port among the arguments or results, if there are such numbers."""
    places: tuple[int, ...] = ()
    """The place of each in the port."""

    @property
    def sparsity(self) -> str:
        """The pattern: rows, columns, and then 1 if no number is left out, or the beginnings of columns and the rows of
        the numbers."""
        if len(self.nonzeros) == self.rows * self.columns:
            return f"{self.rows}, {self.columns}, 1"
        starts = [sum(1 for column, _ in self.nonzeros if column < k) for k in range(self.columns + 1)]
        return ", ".join(map(str, [self.rows, self.columns, *starts, *(row for _, row in self.nonzeros)]))

    @property
    def is_in_order(self) -> bool:
        """Whether its numbers are all those of a port, in the same order."""
        return self.places == tuple(range(self.rows * self.columns))


def _rows_and_columns(shape: Sequence[int]) -> tuple[int, int]:
    """The matrix that CasADi sees: matrices of more axes are below each other."""
    columns = shape[-1] if len(shape) > 1 else 1
    return (Port("", tuple(shape)).size // columns if columns else 0), columns


def order(shape: Sequence[int]) -> list[int]:
    """The places of an array's numbers, column by column.

    >>> order((2, 3))
    [0, 3, 1, 4, 2, 5]
    """
    rows, columns = _rows_and_columns(shape)
    return [row * columns + column for column in range(columns) for row in range(rows)]


def dense(name: str, shape: Sequence[int], port: int) -> Block:
    """All of a port."""
    rows, columns = _rows_and_columns(shape)
    nonzeros = tuple((column, row) for column in range(columns) for row in range(rows))
    return Block(name, rows, columns, nonzeros, port, tuple(order(shape)))


def zero(name: str, shape: Sequence[int]) -> Block:
    """A matrix of zeros, stored without numbers."""
    return Block(name, *_rows_and_columns(shape), ())


def casadi_function(
    name: str, plain: FunctionWriter, inputs: Sequence[Block], outputs: Sequence[Block]
) -> tuple[str, str, int]:
    """The text of a function `name` around the plain one, its declarations, and the length of its memory."""
    tables, call, memory = _call(name, plain, inputs, outputs)
    external = {
        f"casadi_int {name}_n_in(void)": f"return {len(inputs)};",
        f"casadi_int {name}_n_out(void)": f"return {len(outputs)};",
        f"const char *{name}_name_in(casadi_int i)": _one_of([f'"{block.name}"' for block in inputs]),
        f"const char *{name}_name_out(casadi_int i)": _one_of([f'"{block.name}"' for block in outputs]),
    }
    for way, blocks in (("in", inputs), ("out", outputs)):
        patterns = [f"{name}_{way}{k}" for k in range(len(blocks))]
        for pattern, block in zip(patterns, blocks, strict=True):
            tables += wrapped(f"static const casadi_int {pattern}[] = {{{block.sparsity}}};")
        external[f"const casadi_int *{name}_sparsity_{way}(casadi_int i)"] = _one_of(patterns)
    counts = {"arg": len(inputs), "res": len(outputs), "iw": 0, "w": memory}
    external[f"int {name}_work(casadi_int *sz_arg, casadi_int *sz_res, casadi_int *sz_iw, casadi_int *sz_w)"] = (
        "\n    ".join(
            [*(f"if (sz_{x} != 0) {{\n        *sz_{x} = {n};\n    }}" for x, n in counts.items()), "return 0;"]
        )
    )
    head = f"int {name}(const casadi_real **arg, casadi_real **res, casadi_int *iw, casadi_real *w, int mem)"
    texts = [f"CASADI_SYMBOL_EXPORT {one}\n{{\n    {body}\n}}\n" for one, body in {head: call, **external}.items()]
    declared = "\n".join(f"CASADI_SYMBOL_EXPORT {one};" for one in (head, *external))
    return "\n".join([*tables, "", *texts]), declared, memory


def _one_of(values: Sequence[str]) -> str:
    cases = "\n".join(f"    case {k}:\n        return {value};" for k, value in enumerate(values))
    return f"switch (i) {{\n{cases}\n    default:\n        return 0;\n    }}"


def _call(
    name: str, plain: FunctionWriter, inputs: Sequence[Block], outputs: Sequence[Block]
) -> tuple[list[str], str, int]:
    """Tables of places; the statements that call the plain function; the length of the memory."""
    sizes, first, memory = [port.size for _, port in plain.ports], len(plain.program.inputs), plain.memory
    tables: list[str] = []
    before, after = ["(void)iw;", "(void)mem;"], []
    pointers: dict[int, str] = {}
    """The pointer that is given for each port."""

    def take(at: int) -> str:
        """Memory for a port."""
        nonlocal memory
        memory += sizes[at]
        return f"&w[{memory - sizes[at]}]"

    for k, block in enumerate(inputs):
        if block.nonzeros:
            pointers[block.port] = f"x{k}"
            if not block.is_in_order:
                tables += _places(f"{name}_i{k}", block)
            count, place = len(block.places), take(block.port)
            before.append((_TAKEN if block.is_in_order else _SORTED).format(k=k, count=count, place=place, name=name))
    for k, block in enumerate(outputs):
        at = first + block.port
        if not block.nonzeros:
            continue
        if block.is_in_order and len(block.places) == sizes[at]:
            pointers[at] = f"y{k}"
            before.append(f"casadi_real *const y{k} = (res[{k}] != 0) ? res[{k}] : {take(at)};")
            continue
        if at not in pointers:
            pointers[at] = f"y{k}"
            before.append(f"casadi_real *const y{k} = {take(at)};")
        tables += _places(f"{name}_o{k}", block)
        after.append(_GIVEN.format(k=k, count=len(block.places), y=pointers[at], name=name))
    # A port of which CasADi sees nothing is zero all over.
    arguments = [pointers.get(at) or take(at) for at, size in enumerate(sizes) if size]
    if plain.memory:
        arguments.append("w")
    elif not memory:
        before.append("(void)w;")
    call = wrapped(f"{plain.name}({', '.join(arguments)});")
    used = "".join((*before, *after))
    before += [f"(void){name};" for name in ("arg", "res") if f"{name}[" not in used]
    return tables, "\n    ".join([*before, *call, *after, "return 0;"]), memory


def _places(label: str, block: Block) -> list[str]:
    places = ", ".join(map(str, block.places))
    return wrapped(f"static const int32_t {label}[{len(block.places)}] = {{{places}}};")


_TAKEN = """\
const casadi_real *x{k} = arg[{k}];
    if (x{k} == 0) {{
        casadi_real *const zeros = {place};
        for (int32_t i = 0; i < {count}; ++i) {{
            zeros[i] = 0.0;
        }}
        x{k} = zeros;
    }}"""
"""An argument as it is, or zeros."""
_SORTED = """\
casadi_real *const x{k} = {place};
    for (int32_t i = 0; i < {count}; ++i) {{
        x{k}[{name}_i{k}[i]] = (arg[{k}] != 0) ? arg[{k}][i] : 0.0;
    }}"""
"""An argument in another order."""
_GIVEN = """\
if (res[{k}] != 0) {{
        for (int32_t i = 0; i < {count}; ++i) {{
            res[{k}][i] = {y}[{name}_o{k}[i]];
        }}
    }}"""
"""A result in another order, or a part of it."""
