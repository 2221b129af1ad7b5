"""A seccomp filter that refuses system calls for the network, programs and other processes."""

import ctypes
import platform
import struct

from base.sandbox.prctl import prctl

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
