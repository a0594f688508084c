"""Who may read a file or folder: modes on POSIX, access lists on Windows.

Knows modes, and whether others are kept out. Ignores what is inside. On Windows `chmod` changes nothing but whether a
file is read-only, so that a private mode becomes an access list with the owner and the system alone, and an open mode
takes that of the folder above. What a disk without access lists (FAT, many shares) makes of it is asked, not assumed.
Source: Microsoft, «Security Descriptor String Format», SetNamedSecurityInfoW.
"""

from __future__ import annotations

import ctypes
import os
import re
import stat
from functools import cache
from pathlib import Path
from typing import Any

from celosia import system

_OTHERS = 0o077
_FILE_OBJECT, _ACCESS_LIST, _PROTECTED, _INHERITING = 1, 0x4, 0x80000000, 0x20000000
_QUERY_TOKEN, _TOKEN_USER = 0x8, 1
# The system, administrators, and whoever owns or made it: none of them can be kept out of a machine.
_ALWAYS = {"S-1-5-18", "S-1-5-32-544", "S-1-3-4", "S-1-3-0"}


def set_mode(path: Path, mode: int) -> None:
    """Give a file or folder its mode: on Windows its owner's alone, or open as the folder above."""
    if not system.WINDOWS:
        path.chmod(mode)
    elif mode & _OTHERS:
        _open_as_above(path)
    else:
        _close_to_others(path)


def is_private(path: Path) -> bool:
    """Whether nobody else may read a file or folder, as the disk says now."""
    if not system.WINDOWS:
        return stat.S_IMODE(path.stat().st_mode) & _OTHERS == 0
    listed = re.findall(r"\(A[^)]*;;;([^)]+)\)", _access(path))
    # Windows writes well-known people by two letters: the administrator of a machine is «LA» also to themselves.
    return bool(listed) and set(map(_identifier, listed)) <= {*_ALWAYS, _own_name()}


# --- Windows ------------------------------------------------------------------------------------------------------


def _close_to_others(path: Path) -> None:
    """An access list of its own for the owner and the system, which what is made inside a folder inherits.

    A disk that has no access lists leaves the file as it was, which `is_private` then tells.
    """
    security, kernel = _libraries()
    descriptor = ctypes.c_void_p()
    rights = f"D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;{_own_name()})"
    security.ConvertStringSecurityDescriptorToSecurityDescriptorW(rights, 1, ctypes.byref(descriptor), None)
    security.SetFileSecurityW(os.fspath(path), ctypes.c_ulong(_ACCESS_LIST | _PROTECTED), descriptor)
    kernel.LocalFree(descriptor)


def _open_as_above(path: Path) -> None:
    """The access list of the folder above, for a file or for a folder and all that is in it."""
    security, _ = _libraries()
    nobody = ctypes.create_string_buffer(8)
    security.InitializeAcl(nobody, len(nobody), 2)
    flags = ctypes.c_ulong(_ACCESS_LIST | _INHERITING)
    security.SetNamedSecurityInfoW(os.fspath(path), _FILE_OBJECT, flags, None, None, nobody, None)


def _access(path: Path) -> str:
    """The access list of a file as text; empty where the disk has none."""
    security, kernel = _libraries()
    descriptor, text = ctypes.c_void_p(), ctypes.c_wchar_p()
    refused = security.GetNamedSecurityInfoW(
        os.fspath(path), _FILE_OBJECT, _ACCESS_LIST, None, None, None, None, ctypes.byref(descriptor)
    )
    if refused:
        return ""
    security.ConvertSecurityDescriptorToStringSecurityDescriptorW(descriptor, 1, _ACCESS_LIST, ctypes.byref(text), None)
    written = text.value or ""
    kernel.LocalFree(text)
    kernel.LocalFree(descriptor)
    return written


@cache
def _own_name() -> str:
    """The identifier of the person who runs this process."""
    security, kernel = _libraries()
    token, size, text = ctypes.c_void_p(), ctypes.c_ulong(), ctypes.c_wchar_p()
    security.OpenProcessToken(ctypes.c_void_p(-1), _QUERY_TOKEN, ctypes.byref(token))
    security.GetTokenInformation(token, _TOKEN_USER, None, 0, ctypes.byref(size))
    user = ctypes.create_string_buffer(size.value)
    security.GetTokenInformation(token, _TOKEN_USER, user, size, ctypes.byref(size))
    # The structure begins with the address of the identifier.
    security.ConvertSidToStringSidW(ctypes.c_void_p.from_buffer(user), ctypes.byref(text))
    name = text.value or "S-1-3-4"
    kernel.LocalFree(text)
    kernel.CloseHandle(token)
    return name


@cache
def _identifier(name: str) -> str:
    """The identifier of whom an access list names, be it written out or by two letters."""
    if name.startswith("S-"):
        return name
    security, kernel = _libraries()
    binary, text = ctypes.c_void_p(), ctypes.c_wchar_p()
    if not security.ConvertStringSidToSidW(name, ctypes.byref(binary)):
        return name
    security.ConvertSidToStringSidW(binary, ctypes.byref(text))
    written = text.value or name
    kernel.LocalFree(text)
    kernel.LocalFree(binary)
    return written


def _libraries() -> tuple[Any, Any]:
    return ctypes.WinDLL("advapi32"), ctypes.WinDLL("kernel32")  # type: ignore[attr-defined]
