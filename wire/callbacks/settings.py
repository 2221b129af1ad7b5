"""An account's callback settings as they are stored, and their changes by the REST layer.

The REST layer stores what an engine returns for a change: only engines can make secrets.
"""

from typing import Literal

from msgspec import Struct

from wire.base import Shape
from wire.callbacks.account import PutCallback


class CallbackSettings(Struct, frozen=True, omit_defaults=True):
    """The stored callback settings of an account."""

    secret: str
    made_ms: int
    target: str | None = None
    concurrency: int = 32
    per_s: float | None = None
    previous: str = ""
    previous_until_ms: int = 0
    put_ms: int = 0  # when target and limits were set last
    is_stopped: bool = False  # its target has answered 410 since; engines know, no document says so
    secret_number: int = 0  # counts rotations
    is_secret_unseen: bool = False  # created when settings were removed, and never shown

    def secrets(self, now_ms: int) -> tuple[str, ...]:
        """Return the secrets that sign now."""
        is_overlapping = self.previous and now_ms < self.previous_until_ms
        return (self.secret, self.previous) if is_overlapping else (self.secret,)

    @property
    def is_implicit(self) -> bool:
        """Whether the settings were removed, so that there is nothing but a secret."""
        return self.is_secret_unseen and self.target is None


class CallbackChange(Shape, frozen=True):
    """A change of an account's settings; `settings` are those of a `put`."""

    change: Literal["put", "rotate", "remove"]
    before: CallbackSettings | None = None
    settings: PutCallback | None = None


class ChangedCallback(Shape, frozen=True):
    """The settings after a change, to be stored; whether their secret is to be shown."""

    settings: CallbackSettings
    is_secret_new: bool = False
