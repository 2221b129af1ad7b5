"""Landlock rules: which files the process may still open, and that it signals no other process."""

import ctypes
import os
import struct
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on all machines
_VERSION = 1  # flag: return the version of the interface
_PATH_BENEATH = 1
_WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 1, 1 << 2, 1 << 3
_REMOVE_FILE, _MAKE_FILE, _TRUNCATE = 1 << 5, 1 << 8, 1 << 14
_TRUNCATE_SINCE, _SCOPES_SINCE = 3, 6
_ALL_BY_VERSION = ((1 << 13) - 1, (1 << 14) - 1, (1 << 15) - 1, (1 << 15) - 1, (1 << 16) - 1)
_SCOPES = 0b11  # abstract sockets and signals
_FILE_RIGHTS = _READ_FILE | _WRITE_FILE | _TRUNCATE  # the others concern folders


def restrict_files(
    readable: Iterable[Path], listed: Iterable[Path], writable: Iterable[Path]
) -> bool:
    """Forbid all other files for good; False if the kernel has no Landlock.

    Under Landlock, a process reads nothing of another process either, such as its environment.
    """
    version = _system_call(_CREATE_RULESET, None, 0, _VERSION)
    if version < 1:
        return False
    handled = _ALL_BY_VERSION[min(version, len(_ALL_BY_VERSION)) - 1]
    attributes = struct.pack("=QQQ", handled, 0, _SCOPES)
    size = len(attributes) if version >= _SCOPES_SINCE else 8
    rules = _system_call(_CREATE_RULESET, attributes, size, 0)
    if rules < 0:
        return False
    read = _READ_FILE | _READ_DIR
    write = read | _WRITE_FILE | _REMOVE_FILE | _MAKE_FILE
    if version >= _TRUNCATE_SINCE:
        write |= _TRUNCATE
    try:
        for paths, rights in ((readable, read), (listed, _READ_DIR), (writable, write)):
            for path in paths:
                _allow(rules, path, rights)
        return _system_call(_RESTRICT_SELF, rules, 0) == 0
    finally:
        os.close(rules)


def _allow(rules: int, path: Path, rights: int) -> None:
    with suppress(FileNotFoundError, PermissionError):  # nothing to allow
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            allowed = rights if path.is_dir() else rights & _FILE_RIGHTS
            _system_call(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", allowed, opened), 0)
        finally:
            os.close(opened)


def _system_call(number: int, *arguments: int | bytes | None) -> int:
    converted = (ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)
    return int(ctypes.CDLL(None).syscall(ctypes.c_long(number), *converted))
