"""Extents of arrays in LLVM IR."""

__all__ = ["PRODUCT", "SAME"]

PRODUCT = """
; How many elements an array of so many extents has.
define internal i64 @product(ptr %numbers, i64 %count) {
start:
  br label %loop
loop:
  %k = phi i64 [0, %start], [%next, %one]
  %product = phi i64 [1, %start], [%larger, %one]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %one, label %end
one:
  %x_p = getelementptr i64, ptr %numbers, i64 %k
  %x = load i64, ptr %x_p
  %larger = mul i64 %product, %x
  %next = add i64 %k, 1
  br label %loop
end:
  ret i64 %product
}
"""

SAME = """
; Whether so many extents are the same.
define internal i1 @same(ptr %a, ptr %b, i64 %n) nounwind {
start:
  br label %loop
loop:
  %k = phi i64 [0, %start], [%next, %more]
  %is_done = icmp sge i64 %k, %n
  br i1 %is_done, label %end, label %more
more:
  %a_p = getelementptr i64, ptr %a, i64 %k
  %b_p = getelementptr i64, ptr %b, i64 %k
  %x = load i64, ptr %a_p
  %y = load i64, ptr %b_p
  %next = add i64 %k, 1
  %equal = icmp eq i64 %x, %y
  br i1 %equal, label %loop, label %end
end:
  ret i1 %is_done
}
"""
