"""Identifiers of C, and of C++ as well, for names that people chose for robots, joints and arguments."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container

__all__ = ["LONGEST", "comment", "identifier", "is_reserved"]

LONGEST = 31
"""Significant characters of external names in every C99 compiler."""

_WORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
concept const const_cast consteval constexpr constinit continue co_await co_return co_yield decltype default delete
do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
requires restrict return short signed sizeof static static_assert static_cast struct switch template this
thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile
wchar_t while xor xor_eq

abort abs acos acosh arg asin asinh assert atan atan2 atanh atexit atof atoi bsearch calloc cbrt ceil clock conj
copysign cos cosh ctime difftime div erf erfc errno exit exp exp2 expm1 fabs fclose fdim feof ferror fflush fgetc
fgets floor fma fmax fmin fmod fopen fprintf fputc fputs fread free freopen frexp fscanf fseek ftell fwrite gamma
getc getchar getenv gets gmtime hypot ilogb isalnum isalpha isascii isatty isblank iscntrl isdigit isfinite isgraph
isinf islower isnan isnormal isprint ispunct isspace isupper isxdigit j0 j1 jn kill labs ldexp ldiv lgamma link
localeconv localtime log log10 log1p log2 logb longjmp lrint lround main malloc memchr memcmp memcpy memmove memset
mktime modf nan nearbyint nextafter nexttoward offsetof perror pow printf proj putc putchar puts qsort raise rand
read realloc remainder remove remquo rename rewind rint round scalbln scalbn scanf select setbuf setjmp setlocale
setvbuf signal signbit sin sinh sleep sprintf sqrt srand sscanf stderr stdin stdout strcat strchr strcmp strcoll
strcpy strcspn strerror strftime strlen strncat strncmp strncpy strpbrk strrchr strspn strstr strtod strtok strtol
strtoul strxfrm system tan tanh tgamma time tmpfile tmpnam tolower toupper trunc ungetc vfprintf vprintf vsprintf
wait write y0 y1 yn

BIN BUFSIZ CHAR_BIT DEC DEFAULT DISABLED EOF EULER F FLT_EPSILON HALF_PI HEX HIGH HUGE_VAL I INFINITY INPUT INTERNAL
LOW LSBFIRST MSBFIRST NAN NULL OCT OUTPUT PI TWO_PI bit boolean byte constrain degrees far huge interrupts linux
loop max min near radians setup sq stricmp unix word
"""
"""Words of C and C++, functions that every C program may have, and macros of usual headers, Arduino's and Windows'
among them."""
_RESERVED = frozenset(re.findall(r"\S+", _WORDS))
_OWN = re.compile(r"v\d+(_now)?|[ak]\d+|i|w|until|kt_(angle|sincos|block|philox)f?|kt_product|KT_\w*")
"""The names that functions use inside."""
_DEVICE = re.compile(r"aux|con|nul|prn|(com|lpt)\d", re.IGNORECASE)
"""Names that no file may have on Windows."""


def is_reserved(name: str) -> bool:
    """Whether a name has a meaning of its own in C, in C++, or as the name of a file.

    >>> is_reserved("double"), is_reserved("con"), is_reserved("v12"), is_reserved("tau")
    (True, True, True, False)
    """
    known = name in _RESERVED or (name[-1:] in ("f", "l") and name[:-1] in _RESERVED)  # sinf, sinl
    return known or bool(_OWN.fullmatch(name) or _DEVICE.fullmatch(name))


def identifier(text: str, taken: Container[str] = (), longest: int = LONGEST) -> str:
    """An identifier like a text, and unlike those that are taken.

    >>> identifier("f_ext['left hand']"), identifier("float"), identifier("ζ-axis"), identifier("2nd", {"n2nd"})
    ('f_ext_left_hand', 'float_', 'axis', 'n2nd_2')
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    name = re.sub(r"[^0-9A-Za-z]+", "_", plain).strip("_") or "x"
    if name[0].isdigit():
        name = f"n{name}"
    name = name[:longest].rstrip("_")
    if is_reserved(name):
        name = f"{name[: longest - 1]}_"
    result, k = name, 1
    while result in taken:
        k += 1
        result = f"{name[: longest - len(str(k)) - 1]}_{k}"
    return result


def comment(text: str) -> str:
    """A text as it may appear in a comment: in ASCII, on one line.

    >>> comment("arm */ #include <é>")
    'arm * / #include <\\\\xe9>'
    """
    plain = text.encode("ascii", "backslashreplace").decode()
    plain = "".join(c if c.isprintable() else " " for c in plain)
    return plain.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")
