"""From programs to code. This room sees only programs; it knows nothing of robots.

`llvm/` is LLVM's language, `cpu/` the backend for this processor, `kept/` machine code on disk.
"""
