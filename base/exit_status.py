"""The exit statuses of all commands; docs/reference/commands.md has the same table."""

from enum import IntEnum


class ExitStatus(IntEnum):
    """What a command's exit status means."""

    DONE = 0
    NEGATIVE = 1  # it ran, and its result is negative: a failed check or call, an unknown name
    NOT_DONE = 2  # wrong usage or settings, a rejected request, no server: nothing was changed
    BUSY = 3  # the call was busy
    NO_ANSWER = 4  # the call was not answered
    CANCELED = 5  # the call was canceled
    INCOMPLETE = 6  # a part of the log is lost, and the rest is the same
    INTERRUPTED = 130  # Ctrl-C
