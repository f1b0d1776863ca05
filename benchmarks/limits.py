"""How close the kernels come to the processor's limits.

    python benchmarks/limits.py [--batch 2048] [--rounds 200]

The limit is measured, not looked up: the time of a multiply-add in a loop of independent ones on full registers, and
likewise of a division, a square root and a sine with its cosine; every other operation counts as a multiply-add. A
kernel's limit is the sum over its operations, for one thread and float64, without data movement or waiting. Its share
is that limit over the median of its batched calls. Additions may run beside multiplications on some processors, so a
share can in principle exceed one.
"""

from __future__ import annotations

import argparse
import ctypes
import time
from collections.abc import Callable

import numpy as np

import kinetree as kt
import timing  # noqa: F401  what is measured has been optimised
from kinetree.codegen.cpu.jit import MachineCode, compile_module
from kinetree.codegen.llvm.elementary import sincos
from kinetree.codegen.llvm.precision import F64
from kinetree.codegen.llvm.target import host
from robots import ROBOTS, Robot

CHAINS = 12
"""Independent operations per round: more than any processor has in flight, and few enough for 16 registers."""
REPEATS = 20_000
LANES = host().lanes(F64)
V = f"<{LANES} x double>"
INTRINSIC = f"call {V} @llvm.{{}}.v{LANES}f64"
ONE_STEP = {
    "multiply-add": INTRINSIC.format("fma") + f"({V} %x, {V} %a, {V} %b)" if host().fma else f"fmul {V} %x, %a",
    "division": f"fdiv {V} %a, %x",
    "square root": INTRINSIC.format("sqrt") + f"({V} %x)",
}


def chains(name: str, step: str) -> str:
    """A function that repeats an operation on each of `CHAINS` registers, each on its own last result."""
    phis = "\n".join(f"  %x{k} = phi {V} [%b, %start], [%y{k}, %round]" for k in range(CHAINS))
    steps = "\n".join(f"  %y{k} = {step.replace('%x', f'%x{k}')}" for k in range(CHAINS))
    stores = "\n".join(
        f"  %p{k} = getelementptr {V}, ptr %out, i64 {k}\n  store {V} %y{k}, ptr %p{k}, align 8" for k in range(CHAINS)
    )
    return f"""
define void @{name}(ptr %in, ptr %out, i64 %rounds) #1 {{
start:
  %a = load {V}, ptr %in, align 8
  %b = load {V}, ptr %in, align 8
  br label %round
round:
  %n = phi i64 [0, %start], [%next, %round]
{phis}
{steps}
  %next = add i64 %n, 1
  %done = icmp eq i64 %next, %rounds
  br i1 %done, label %end, label %round
end:
{stores}
  ret void
}}
"""


def angles() -> str:
    """A function that repeatedly takes the sines and cosines of `CHAINS` registers of angles."""
    width = LANES * F64.bytes
    return f"""
{sincos(LANES, F64)}
define void @angles(ptr %in, ptr %out, i64 %rounds) #0 {{
start:
  %angles = alloca {V}, i64 {CHAINS}, align {width}
  %pairs = alloca {V}, i64 {2 * CHAINS}, align {width}
  call void @llvm.memset.p0.i64(ptr align {width} %angles, i8 0, i64 {CHAINS * width}, i1 false)
  br label %round
round:
  %n = phi i64 [0, %start], [%next, %round]
  call void @sincos_all(ptr %angles, ptr %pairs, i64 {CHAINS})
  %next = add i64 %n, 1
  %done = icmp eq i64 %next, %rounds
  br i1 %done, label %end, label %round
end:
  ret void
}}
"""


def costs() -> dict[str, float]:
    """Seconds per register of each operation when nothing holds it up."""
    names = {name: name.replace(" ", "_").replace("-", "_") for name in ONE_STEP}
    text = "\n".join(
        (
            *(chains(names[name], step) for name, step in ONE_STEP.items()),
            angles(),
            f"declare {V} @llvm.fma.v{LANES}f64({V}, {V}, {V})",
            f"declare {V} @llvm.sqrt.v{LANES}f64({V})",
            f"declare {V} @llvm.fabs.v{LANES}f64({V})",
            "declare double @llvm.fma.f64(double, double, double)",
            "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
            f'attributes #0 = {{ nounwind alignstack={LANES * F64.bytes} "prefer-vector-width"="512" }}',
            'attributes #1 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }',
        )
    )
    code = MachineCode(compile_module(text))
    numbers = np.ones(LANES), np.empty(CHAINS * LANES)
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    result = {}
    for name in (*ONE_STEP, "sine and cosine"):
        function = prototype(code.address(names.get(name, "angles")))
        call = lambda f=function: f(*(x.ctypes.data for x in numbers), REPEATS)  # noqa: E731
        result[name] = min(seconds(call, 50)) / (REPEATS * CHAINS)
    return result


def seconds(call: Callable[[], object], rounds: int) -> list[float]:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return times


def limit(counts: dict[str, int], cost: dict[str, float]) -> float:
    """Seconds per sample. A sine counts together with its cosine: an angle's are computed together."""
    left = dict(counts)
    total = max(left.pop("sin", 0), left.pop("cos", 0)) * cost["sine and cosine"]
    total += left.pop("div", 0) * cost["division"] + left.pop("sqrt", 0) * cost["square root"]
    return (total + sum(left.values()) * cost["multiply-add"]) / LANES


def measure(robot: Robot, cost: dict[str, float], batch: int, rounds: int) -> None:
    model = robot.load()
    rng = np.random.default_rng(0)
    q = np.stack([model.random(rng) for _ in range(batch)])
    v, x = rng.normal(size=(2, batch, model.nv))
    for name, function, arguments in (
        ("aba", kt.aba, (q, v, x)),
        ("rnea", kt.rnea, (q, v, x)),
        ("crba", kt.crba, (q,)),
    ):
        kernel = kt.compile(model, function)
        counts = kernel.__self__.program.operation_counts()
        out = kernel(*arguments)
        here = float(np.median(seconds(lambda k=kernel, a=arguments, o=out: k(*a, out=o), rounds))) / batch
        best = limit(counts, cost)
        print(
            f"{robot.name:8} {name:5} {sum(counts.values()):7,} operations  limit {best * 1e9:7.1f} ns"
            f"  measured {here * 1e9:7.1f} ns  share {best / here:5.0%}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    cost = costs()
    gflops = 2 * LANES / cost["multiply-add"] / 1e9
    print(f"{LANES} lanes; {gflops:.0f} GFLOP/s in multiply-adds; a register of each takes, in ns:")
    print("  " + ", ".join(f"{name} {time * 1e9:.2f}" for name, time in cost.items()))
    for robot in ROBOTS:
        measure(robot, cost, options.batch, options.rounds)


if __name__ == "__main__":
    main()
