"""The source of a ucrtbase.dll that adds the complex functions of C99 to Wine's own and hands on all other names.

    x86_64-w64-mingw32-objdump -p WINES_UCRTBASE | python scripts/windows/runtime.py FOLDER

Writes FOLDER/runtime.c and FOLDER/runtime.def. NumPy asks for these functions and Wine's C runtime lacks them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

UNARY = ("ctanh", "ctan", "csinh", "csin", "cexp", "ccosh", "ccos", "clog", "csqrt", "catan")
REAL = ("cabs", "carg", "creal", "cimag")
# Suffix, our pair of numbers, the number; `long double` is `double` on Windows.
KINDS = (("f", "F", "float"), ("", "D", "double"), ("l", "D", "double"))


def main(folder: Path) -> None:
    """Write the two files from the list of names on standard input."""
    listing = sys.stdin.read().partition("[Ordinal/Name Pointer] Table")[2]
    names = re.findall(r"^\s*\[ *\d+\] (?:\+base\[ *\d+\] +)?(?:[0-9a-f]+ )?(\S+)$", listing, flags=re.MULTILINE)
    if len(names) < 1000:
        raise SystemExit(f"only {len(names)} names: the listing of objdump is not as expected")
    code, own = functions()
    lines = [f' "{name}" = {own[name]}' if name in own else f' "{name}" = "ucrtbasw.{name}"' for name in names]
    (folder / "runtime.c").write_text("\n".join(code) + "\n", "utf-8")
    (folder / "runtime.def").write_text("\n".join(["LIBRARY ucrtbase.dll", "EXPORTS", *lines]) + "\n", "utf-8")


def functions() -> tuple[list[str], dict[str, str]]:
    """Their code, and the name of each in it."""
    code = ["#include <complex.h>", "typedef struct{float r,i;}F;typedef struct{double r,i;}D;"]
    own: dict[str, str] = {}
    for suffix, pair, part in KINDS:
        number, called = f"{part} complex", "f" if suffix == "f" else ""
        take = f"{number} c; __real__ c=z.r; __imag__ c=z.i;"
        give = f"{pair} o={{__real__ c,__imag__ c}}; return o;"
        code += [f"{part} x_{name}{suffix}({pair} z){{{take} return {name}{called}(c);}}" for name in REAL]
        code += [f"{pair} x_{name}{suffix}({pair} z){{{take} c={name}{called}(c); {give}}}" for name in UNARY]
        power = f"{take} {number} e; __real__ e=w.r; __imag__ e=w.i; c=cpow{called}(c,e); {give}"
        code.append(f"{pair} x_cpow{suffix}({pair} z,{pair} w){{{power}}}")
        own |= {f"{name}{suffix}": f"x_{name}{suffix}" for name in (*REAL, *UNARY, "cpow")}
    return [*code, "int __stdcall DllMain(void*h,unsigned r,void*p){return 1;}"], own


if __name__ == "__main__":
    main(Path(sys.argv[1]))
