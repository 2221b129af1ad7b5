"""One call's commit, and the merge of several into one."""

from collections.abc import Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace


class Change(Struct, frozen=True, gc=False):
    """What one step of a call, or several in a row, stores.

    The log makes a repeated commit harmless: a change whose entries are all stored already is
    ignored as a whole. So a change has at least one log entry, its cause (else ValueError), and
    `seq` is the number of the first, counted from 0 over the whole call.
    """

    call_id: str
    node: str
    state: bytes
    seq: int
    log: tuple[bytes, ...]
    events: tuple[bytes, ...] = ()  # for the event stream
    live: bool = True  # False: the call has ended; its record is kept for a while
    delivery_key: str = ""  # of its callbacks: an account, a space and a target
    callbacks: tuple[bytes, ...] = ()  # events as they are delivered to the target
    first_seq: int = 0  # the number of the first callback; the others follow
    account: str = ""
    used_ms: int = 0  # how long the legs that an ended call dialled were up
    unsent: bool = False  # whether an ended call still has webhooks to send

    def __post_init__(self) -> None:
        """Reject a change without a cause: it could not be distinguished from its repetition."""
        if not self.log:
            raise ValueError(f"a change of {self.call_id} without a log entry")

    @property
    def size(self) -> int:
        """How many bytes it stores, about."""
        return len(self.state) + sum(map(len, self.log)) + sum(map(len, self.events))

    @property
    def has_callbacks(self) -> bool:
        """Whether the change has events to deliver to a customer."""
        return bool(self.callbacks)


def coalesce(changes: Sequence[Change]) -> list[Change]:
    """Merge each call's changes into one: the last state wins, log and events keep their order."""
    if len(changes) == 1:
        return list(changes)
    by_call: dict[str, list[Change]] = {}
    for change in changes:
        by_call.setdefault(change.call_id, []).append(change)
    return [_merge(group) for group in by_call.values()]


def _merge(group: list[Change]) -> Change:
    if len(group) == 1:
        return group[0]
    first_with_callbacks = next((change for change in group if change.callbacks), group[-1])
    return replace(
        group[-1],
        seq=group[0].seq,
        callbacks=tuple(chain.from_iterable(change.callbacks for change in group)),
        first_seq=first_with_callbacks.first_seq,
        log=tuple(chain.from_iterable(change.log for change in group)),
        events=tuple(chain.from_iterable(change.events for change in group)),
    )
