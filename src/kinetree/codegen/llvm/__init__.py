"""LLVM's language: a program's statements as text, for any processor that LLVM knows."""
