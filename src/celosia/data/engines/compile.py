"""From an Ibis expression to the SQL of one dialect.

Knows where Ibis keeps its compilers. Ignores connections. The package of the compilers imports all twenty of them, with
every dialect they speak, which costs a tenth of a second at each start: here it is put in place unread, so that only
the compiler asked for is imported. Whoever asks that package for anything else gets it read whole, as ever.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
from importlib.abc import Loader
from types import ModuleType
from typing import Any

from celosia.data.engines.base import Expression

_PACKAGE = "ibis.backends.sql.compilers"
_import_lock = threading.RLock()


def compile_sql(expression: Expression, dialect: str) -> str:
    """The statement that asks a database of this dialect for the expression."""
    with _import_lock:
        _install_package()
        compiler = importlib.import_module(f"{_PACKAGE}.{dialect}").compiler
    return str(compiler.to_sqlglot(expression.unbind()).sql(dialect=compiler.dialect))


def _install_package() -> None:
    """The package with its place and name, its own lines still unread."""
    if _PACKAGE in sys.modules:
        return
    parent = importlib.import_module(_PACKAGE.rpartition(".")[0])
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.loader is None:
        return
    package = importlib.util.module_from_spec(spec)
    vars(package)["__getattr__"] = _LazyPackage(package, spec.loader)
    sys.modules[_PACKAGE] = package
    parent.compilers = package  # type: ignore[attr-defined]


class _LazyPackage:
    """What a package answers when asked for a name it does not have yet: first its lines are read, once."""

    def __init__(self, package: ModuleType, loader: Loader):
        self._package, self._loader, self._begun = package, loader, False

    def __call__(self, name: str) -> Any:
        with _import_lock:  # another thread waits until all is read; the one that reads must not begin again
            if not self._begun and not name.startswith("__"):
                self._begun = True
                self._loader.exec_module(self._package)
            if name in vars(self._package):
                return vars(self._package)[name]
        raise AttributeError(f"module {_PACKAGE!r} has no attribute {name!r}")
