"""Working memory for a kernel when the stack is too small, in LLVM IR.

A kernel keeps at most one piece of memory from call to call: `@take` swaps it for null, so that a concurrent thread
gets a piece of its own, and `@give` puts a piece back or frees it. The kept piece belongs to the module:
`@free_memory` is called before the code is dropped.
"""

from __future__ import annotations

__all__ = ["FAILURES", "ON_STACK", "memory_functions"]

ON_STACK = 32768
"""Bytes. Larger memory is taken from the heap."""
FAILURES = "memory_failures"
"""The address of a count of failures for want of memory; as long as it is null, they are raised in Python instead."""


def memory_functions(*kept: str) -> str:
    """`@take(kept, bytes)`, which gives aligned memory or null, `@give(kept, memory)`, and the places `kept`."""
    places = "\n".join(f"@{name} = internal global ptr null" for name in kept)
    frees = "\n".join(
        f"  %old_{name} = atomicrmw xchg ptr @{name}, ptr null seq_cst\n  call void @free(ptr %old_{name})"
        for name in kept
    )
    return f"""
{places}
@{FAILURES} = dso_local global ptr null
declare ptr @malloc(i64)
declare void @free(ptr)
declare i32 @PyGILState_Ensure()
declare void @PyGILState_Release(i32)
declare ptr @PyErr_NoMemory()

; Each allocation begins at a multiple of 64; the address of its piece stands before it.
define internal ptr @take(ptr %kept, i64 %bytes) noinline {{
start:
  %old = atomicrmw xchg ptr %kept, ptr null seq_cst
  %has = icmp ne ptr %old, null
  br i1 %has, label %found, label %new
new:
  %all = add i64 %bytes, 128
  %fresh = call ptr @malloc(i64 %all)
  %failed = icmp eq ptr %fresh, null
  br i1 %failed, label %none, label %found
none:
  %failures = load atomic ptr, ptr @{FAILURES} seq_cst, align 8
  %is_raised = icmp eq ptr %failures, null
  br i1 %is_raised, label %raised, label %counted
counted:
  %before = atomicrmw add ptr %failures, i64 1 seq_cst
  ret ptr null
raised:
  %state = call i32 @PyGILState_Ensure()
  call ptr @PyErr_NoMemory()
  call void @PyGILState_Release(i32 %state)
  ret ptr null
found:
  %piece = phi ptr [%old, %start], [%fresh, %new]
  %number = ptrtoint ptr %piece to i64
  %after = add i64 %number, 79
  %rounded = and i64 %after, -64
  %aligned = inttoptr i64 %rounded to ptr
  %home = getelementptr i8, ptr %aligned, i64 -8
  store ptr %piece, ptr %home
  ret ptr %aligned
}}

define internal void @give(ptr %kept, ptr %memory) noinline {{
  %home = getelementptr i8, ptr %memory, i64 -8
  %piece = load ptr, ptr %home
  %old = atomicrmw xchg ptr %kept, ptr %piece seq_cst
  call void @free(ptr %old)
  ret void
}}

define void @free_memory() {{
{frees}
  ret void
}}
"""
