"""The tracer: symbols, programs, and their meaning. It knows nothing about robots."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.expr.dead_code import with_outputs
    from kinetree.expr.derivatives import forward_derivative, operations_along, reverse_derivative
    from kinetree.expr.functions import (
        absolute,
        atan2,
        cos,
        dot,
        equal,
        exp,
        floor,
        less,
        less_equal,
        log,
        maximum,
        minimum,
        random_words,
        select,
        sin,
        slopes_of,
        sqrt,
        tanh,
    )
    from kinetree.expr.grid import Grid, IndexList, NewGrid, Numbers, Shared
    from kinetree.expr.interpret import interpret
    from kinetree.expr.joined import Joined, Place
    from kinetree.expr.lower import lower
    from kinetree.expr.ops import OPS, PHILOX, Op
    from kinetree.expr.pieces import in_pieces
    from kinetree.expr.program import (
        Append,
        Argument,
        Array,
        Block,
        Call,
        Each,
        Entry,
        Index,
        Instruction,
        Load,
        Loop,
        Port,
        Program,
        Range,
        Store,
        Switch,
        Term,
        Walk,
        values_used,
    )
    from kinetree.expr.recording import Memory, Recorder
    from kinetree.expr.repeat import otherwise, repeat, unless
    from kinetree.expr.replay import ARITHMETIC, replay
    from kinetree.expr.run_on import run_on
    from kinetree.expr.shared import call_shared
    from kinetree.expr.slopes import without_slopes
    from kinetree.expr.symbol import Graph, MixedTracesError, Scalar, Symbol, TraceTooLongError, is_zero
    from kinetree.expr.trace import run_on_symbols, trace, trace_memory

__all__ = [
    "ARITHMETIC",
    "OPS",
    "PHILOX",
    "Append",
    "Argument",
    "Array",
    "Block",
    "Call",
    "Each",
    "Entry",
    "Graph",
    "Grid",
    "Index",
    "IndexList",
    "Instruction",
    "Joined",
    "Load",
    "Loop",
    "Memory",
    "MixedTracesError",
    "NewGrid",
    "Numbers",
    "Op",
    "Place",
    "Port",
    "Program",
    "Range",
    "Recorder",
    "Scalar",
    "Shared",
    "Store",
    "Switch",
    "Symbol",
    "Term",
    "TraceTooLongError",
    "Walk",
    "absolute",
    "atan2",
    "call_shared",
    "cos",
    "dot",
    "equal",
    "exp",
    "floor",
    "forward_derivative",
    "in_pieces",
    "interpret",
    "is_zero",
    "less",
    "less_equal",
    "log",
    "lower",
    "maximum",
    "minimum",
    "operations_along",
    "otherwise",
    "random_words",
    "repeat",
    "replay",
    "reverse_derivative",
    "run_on",
    "run_on_symbols",
    "select",
    "sin",
    "slopes_of",
    "sqrt",
    "tanh",
    "trace",
    "trace_memory",
    "unless",
    "values_used",
    "with_outputs",
    "without_slopes",
]
