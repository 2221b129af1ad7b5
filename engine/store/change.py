"""One call's commit, and how several become one."""

from collections.abc import Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace


class Change(Struct, frozen=True):
    """What one step of a call, or several in a row, has to leave behind.

    The log is why a repeated commit is harmless: a change whose entries are all stored already is
    not written again, nothing of it. So a change has at least one log entry (what caused it; else
    ValueError), and `seq` is the number of the first, counted from 0 over the whole call.
    """

    call_id: str
    node: str
    state: bytes
    seq: int
    log: tuple[bytes, ...]
    events: tuple[bytes, ...] = ()  # events for the outside
    live: bool = True  # False: the call has ended; its record is kept for a while
    delivery_key: str = ""  # to whom they are to be delivered: an account, a space and a target
    callbacks: tuple[bytes, ...] = ()  # as they are delivered there
    first_seq: int = 0  # the number of the first; the others follow

    def __post_init__(self) -> None:
        """Refuse a change without a cause: nothing could tell it from its repetition."""
        if not self.log:
            raise ValueError(f"a change of {self.call_id} without a log entry")

    @property
    def has_callbacks(self) -> bool:
        """Whether somebody is to be told something."""
        return bool(self.callbacks)


def coalesce(changes: Sequence[Change]) -> list[Change]:
    """Merge each call's changes into one: the last state wins, log and told keep their order."""
    if len(changes) == 1:
        return list(changes)
    by_call: dict[str, list[Change]] = {}
    for change in changes:
        by_call.setdefault(change.call_id, []).append(change)
    return [_merged(group) for group in by_call.values()]


def _merged(group: list[Change]) -> Change:
    if len(group) == 1:
        return group[0]
    telling = next((change for change in group if change.callbacks), group[-1])
    return replace(
        group[-1],
        seq=group[0].seq,
        callbacks=tuple(chain.from_iterable(change.callbacks for change in group)),
        first_seq=telling.first_seq,
        log=tuple(chain.from_iterable(change.log for change in group)),
        events=tuple(chain.from_iterable(change.events for change in group)),
    )
