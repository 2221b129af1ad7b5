"""Attributes of the process, by prctl."""

import ctypes

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
