"""What a customer can show: each call's events as they came, and whether any is amiss."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

from tests.harness.customers.callback_server import CallbackRequest


class _EventFields(Struct, rename="camel"):
    channel_id: str = ""


_read = msgspec.json.Decoder(_EventFields).decode


class Receipt(Struct, frozen=True):
    """A call as told: numbers in the order of their first arrival; whether its end is among them.

    `again` counts repetitions, `changed` those whose body was another.
    """

    channel: str
    numbers: tuple[int, ...]
    is_ended: bool
    repeated: int
    changed: int

    @property
    def is_in_order(self) -> bool:
        """Whether each came before the next, the first time."""
        return list(self.numbers) == sorted(self.numbers)

    @property
    def missing(self) -> int:
        """How many numbers lack below the last."""
        return max(self.numbers) + 1 - len(self.numbers)


def receipts_by_call(got: Iterable[CallbackRequest]) -> dict[str, Receipt]:
    """Make each call's receipt."""
    by_call: defaultdict[str, list[CallbackRequest]] = defaultdict(list)
    for each in got:
        by_call[each.id.rpartition(".")[0]].append(each)
    return {call: _receipt(requests) for call, requests in by_call.items()}


def _receipt(requests: Sequence[CallbackRequest]) -> Receipt:
    first: dict[str, bytes] = {}
    changed = 0
    for each in requests:
        changed += first.setdefault(each.id, each.body) != each.body
    numbers = tuple(int(event.rpartition(".e")[2]) for event in first)
    is_ended = any(b'"event":"completed"' in body for body in first.values())
    channel = _read(requests[0].body).channel_id
    return Receipt(channel, numbers, is_ended, len(requests) - len(first), changed)
