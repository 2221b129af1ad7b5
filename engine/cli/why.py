"""Why a connection failed, in as few words as tell it."""

import os


def why(error: BaseException) -> str:
    """Name the system's reason if there is one, else what the library says."""
    match error:
        case TimeoutError():
            return "no answer in time"
        case OSError(errno=int(number)) if number > 0:
            return os.strerror(number).lower()
        case _ if isinstance(error.__context__, OSError):
            return why(error.__context__)
        case _:
            return str(error) or type(error).__name__
