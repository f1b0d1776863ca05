"""The tracer: symbols, programs, and what a program means. It knows no robots."""

from kinetree.expr.functions import (
    absolute,
    atan2,
    cos,
    equal,
    exp,
    less,
    less_equal,
    log,
    maximum,
    minimum,
    select,
    sin,
    sqrt,
    tanh,
)
from kinetree.expr.interpret import interpret
from kinetree.expr.lower import lower
from kinetree.expr.ops import OPS, Op
from kinetree.expr.program import Block, Instruction, Port, Program
from kinetree.expr.symbol import Graph, Scalar, Symbol
from kinetree.expr.trace import trace

__all__ = [
    "OPS",
    "Block",
    "Graph",
    "Instruction",
    "Op",
    "Port",
    "Program",
    "Scalar",
    "Symbol",
    "absolute",
    "atan2",
    "cos",
    "equal",
    "exp",
    "interpret",
    "less",
    "less_equal",
    "log",
    "lower",
    "maximum",
    "minimum",
    "select",
    "sin",
    "sqrt",
    "tanh",
    "trace",
]
