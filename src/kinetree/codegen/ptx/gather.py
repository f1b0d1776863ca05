"""A kernel that copies an array with any strides to one in C order, in LLVM IR."""

from __future__ import annotations

from kinetree.codegen.ptx.kernel import BLOCK

__all__ = ["AXES", "ENTRY", "gather"]

AXES = 8
"""The most axes that an array may have; shorter shapes begin with ones."""
ENTRY = "kinetree_gather"


def gather(size: int, block: int = BLOCK) -> str:
    """The module of `kinetree_gather(to, from, count, shape…, strides…)` for numbers of this many bytes.

    There are `count` numbers, and `AXES` lengths and strides, these in numbers.
    """
    t = f"i{8 * size}"
    lengths = ", ".join(f"i64 %n{k}" for k in range(AXES))
    strides = ", ".join(f"i64 %s{k}" for k in range(AXES))
    lines, rest, place = [], "%number", "0"
    for k in reversed(range(AXES)):
        lines += [
            f"  %rest{k} = udiv i64 {rest}, %n{k}",
            f"  %whole{k} = mul i64 %rest{k}, %n{k}",
            f"  %at{k} = sub i64 {rest}, %whole{k}",
            f"  %step{k} = mul i64 %at{k}, %s{k}",
            f"  %place{k} = add i64 {place}, %step{k}",
        ]
        rest, place = f"%rest{k}", f"%place{k}"
    body = "\n".join(lines)
    return f"""target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @{ENTRY}(ptr addrspace(1) %to, ptr addrspace(1) %from, i64 %count, {lengths}, {strides}) {{
start:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %thread_w = zext i32 %thread to i64
  %block_w = zext i32 %block to i64
  %first = mul i64 %block_w, {block}
  %number = add i64 %first, %thread_w
  %is_one = icmp slt i64 %number, %count
  br i1 %is_one, label %copy, label %end
copy:
{body}
  %source = getelementptr {t}, ptr addrspace(1) %from, i64 {place}
  %target = getelementptr {t}, ptr addrspace(1) %to, i64 %number
  %x = load {t}, ptr addrspace(1) %source
  store {t} %x, ptr addrspace(1) %target
  br label %end
end:
  ret void
}}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
!nvvm.annotations = !{{!2}}
!2 = !{{ptr @{ENTRY}, !"maxntidx", i32 {block}, !"maxnreg", i32 64}}
"""
