"""Restricts the current process for good, by all that the kernel has, and hides its secrets."""

import ctypes
import os
import platform
import resource
import struct
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

SOURCES = Path(__file__).parents[1]
_PACKAGES = ("api", "base", "engine", "speech", "wire")
# What the interpreter and native libraries read.
_SYSTEM = (
    *("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types"),
    *("/dev/null", "/dev/zero", "/dev/urandom", "/proc/cpuinfo", "/proc/meminfo"),
    "/sys/devices/system/cpu",
)
# The parent's environment has its secrets. onnxruntime reports its use to its vendor since 1.29.
ENVIRONMENT = {"PYTHONPATH": str(SOURCES), "LANG": "C.UTF-8", "ORT_DISABLE_TELEMETRY": "1"}


if sys.pycache_prefix:  # in an image without compiled modules: this process has compiled most
    ENVIRONMENT["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix


class ResourceLimits(NamedTuple):
    """Limits of a process; without `cpu_s`, its jobs have limits of their own."""

    memory_bytes: int
    file_bytes: int
    open_files: int
    cpu_s: int | None = None


def set_limits(limits: ResourceLimits) -> None:
    values = {
        resource.RLIMIT_AS: limits.memory_bytes,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CORE: 0,
    }
    if limits.cpu_s is not None:
        values[resource.RLIMIT_CPU] = limits.cpu_s
    for kind, value in values.items():
        lower = allowed_limit(kind, value)
        resource.setrlimit(kind, (lower, lower))


def allowed_limit(kind: int, value: int) -> int:
    """Return a limit, or the system's own one if that is lower: only root may raise it."""
    _, hard = resource.getrlimit(kind)
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def restrict(readable: Sequence[Path] = (), writable: Sequence[Path] = ()) -> None:
    """Forbid the network, programs, other processes, and files but these.

    Where the kernel lacks a part, a line on stderr names it; the limits of resources and the empty
    environment remain.
    """
    parts = {
        "no_new_privs": give_up_privileges(),
        "landlock": restrict_files(
            [*map(Path, _SYSTEM), *_python_folders(), *readable], [SOURCES], writable
        ),
        "seccomp": filter_system_calls(),
    }
    if missing := [name for name, is_set in parts.items() if not is_set]:
        report(f"parser of files: the kernel lacks {', '.join(missing)}")


def report(text: str) -> None:
    """Write a line to stderr, unless that is a file that has more bytes than the limits allow."""
    with suppress(OSError):
        os.write(2, f"{text}\n".encode())


def _python_folders() -> list[Path]:
    compiled = {sys.pycache_prefix} if sys.pycache_prefix else set()
    installed = {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values()} | compiled
    others = {each for each in sys.path if each and Path(each) not in {SOURCES, Path.cwd()}}
    packages = [SOURCES / each for each in _PACKAGES]
    return [*packages, *(Path(os.path.realpath(each)) for each in installed | others)]


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


_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2
_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
_EPERM = 0x00050000 | 1
_ENOSYS = 0x00050000 | 38
_CLONE_THREAD = 0x00010000
_X32_CALLS = 0x40000000  # the second table of numbers that x86_64 has
_LOAD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
_CLONE3 = 435  # its flags are in memory, where a filter cannot see them; libc then uses clone

# socket, connect, accept, sendto, sendmsg, bind, listen, socketpair, accept4, sendmmsg; fork,
# vfork, execve, execveat; kill, tkill, ptrace, process_vm_readv and _writev, pidfd_open,
# pidfd_send_signal, pidfd_getfd; io_uring_setup, which does all of it; unshare, setns, mount, bpf,
# perf_event_open, userfaultfd, add_key, request_key, keyctl.
_X86_64 = (
    *(41, 42, 43, 44, 46, 49, 50, 53, 288, 307, 57, 58, 59, 322),
    *(62, 200, 101, 310, 311, 434, 424, 438, 425, 272, 308, 165, 321, 298, 323, 248, 249, 250),
)
_AARCH64 = (
    *(198, 203, 202, 206, 211, 200, 201, 199, 242, 269, 221, 281),
    *(129, 130, 117, 270, 271, 434, 424, 438, 425, 97, 268, 40, 280, 241, 282, 217, 218, 219),
)
_MACHINES = {
    "x86_64": (0xC000003E, 56, _X86_64),  # the architecture, clone, what is refused
    "aarch64": (0xC00000B7, 220, _AARCH64),
}


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def filter_system_calls() -> bool:
    """Install the filter; False where the machine or the kernel has none."""
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        return False
    statements = _program(*machine)
    program = _Program(len(statements) // 8, statements)
    return prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program))


def _program(architecture: int, clone: int, refused: tuple[int, ...]) -> bytes:
    parts = [
        _statement(_LOAD, _ARCHITECTURE),
        _statement(_JUMP_EQUAL, architecture, if_true=1),
        _statement(_RETURN, _KILL_PROCESS),
        _statement(_LOAD, _NUMBER),
        *_returns_if(_JUMP_GREATER_EQUAL, _X32_CALLS, _EPERM),
        *_returns_if(_JUMP_EQUAL, _CLONE3, _ENOSYS),
    ]
    for number in refused:
        parts += _returns_if(_JUMP_EQUAL, number, _EPERM)
    parts += [
        _statement(_JUMP_EQUAL, clone, if_false=3),
        _statement(_LOAD, _FIRST_ARGUMENT),
        _statement(_JUMP_ANY_BIT, _CLONE_THREAD, if_true=1),
        _statement(_RETURN, _EPERM),  # a process, not a thread
        _statement(_RETURN, _ALLOW),
    ]
    return b"".join(parts)


def _returns_if(jump: int, operand: int, result: int) -> tuple[bytes, bytes]:
    return _statement(jump, operand, if_false=1), _statement(_RETURN, result)


def _statement(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)


_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38


def prctl(option: int, *values: int) -> bool:
    """Set an attribute; returns whether the kernel accepts it."""
    padded = (*values, 0, 0, 0, 0)[:4]
    return bool(ctypes.CDLL(None).prctl(option, *map(ctypes.c_ulong, padded)) == 0)


def give_up_privileges() -> bool:
    """No program that this process executes has more privileges than it."""
    return prctl(_PR_SET_NO_NEW_PRIVS, 1)


def hide_memory() -> bool:
    """Other processes of the same user can read neither the memory nor the environment."""
    return prctl(_PR_SET_DUMPABLE, 0)


def end_with_parent(signal_number: int) -> bool:
    """Get a signal when the parent ends."""
    return prctl(_PR_SET_PDEATHSIG, signal_number)


_PRIVATE = 0o077


def protect_process() -> None:
    """Hide the memory from other processes, and create files that only their owner reads."""
    hide_memory()
    os.umask(_PRIVATE)
