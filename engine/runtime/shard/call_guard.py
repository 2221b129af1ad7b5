"""Confines an exception to the call that caused it."""

from collections.abc import Callable
from types import TracebackType

from msgspec import Struct

from engine.runtime.shard.live_call import LiveCall

DropCall = Callable[[LiveCall, str, Exception], None]


class CallGuard(Struct, frozen=True):
    """A context in which an exception ends one call; `activity` is what the engine does for it."""

    live_call: LiveCall
    activity: str
    drop_call: DropCall

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> bool:
        """Drop the call and suppress the exception, unless it is to end the process or task."""
        if not isinstance(error, Exception):
            return False
        self.drop_call(self.live_call, self.activity, error)
        return True


Guard = Callable[[LiveCall, str], CallGuard]
