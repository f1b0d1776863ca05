"""Lines of the values in a JSON text, by their places such as `bodies[0].mass`."""

from __future__ import annotations

import json
import re

__all__ = ["lines_of"]

_LARGEST = 4 * 2**20
_DEEPEST = 100
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


def lines_of(text: str) -> dict[str, int]:
    """The line in which each value begins; none of a text that is too large or nested too deep for a robot."""
    found: dict[str, int] = {}
    if len(text) > _LARGEST:
        return found
    line, last = 1, 0
    stack: list[int | None] = []  # the index in an array, None in an object
    names: list[str] = [""]  # places of the values around
    key = ""
    expects_key = False
    for token in _TOKEN.finditer(text):
        line += text.count("\n", last, token.start())
        last = token.start()
        word = token[0]
        if word == ",":
            if stack and stack[-1] is not None:
                stack[-1] += 1
            expects_key = bool(stack) and stack[-1] is None
        elif word == ":":
            expects_key = False
        elif word in "}]":
            if stack:
                stack.pop()
                names.pop()
        elif expects_key:
            try:
                key = json.loads(word)
            except ValueError:  # this is not JSON, which has been said already
                return found
        else:
            around = names[-1]
            place = around
            if stack:
                index = stack[-1]
                place = f"{around}[{index}]" if index is not None else f"{around}.{key}" if around else key
            found.setdefault(place, line)
            if word in "{[":
                if len(stack) > _DEEPEST:
                    return {}
                stack.append(0 if word == "[" else None)
                names.append(place)
                expects_key = word == "{"
    return found
