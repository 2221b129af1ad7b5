"""Summarizes the callbacks that a customer received, call by call."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

from tests.harness.customers.callback_server import CallbackRequest


class _EventFields(Struct, rename="camel"):
    channel_id: str = ""


_read = msgspec.json.Decoder(_EventFields).decode


class Receipt(Struct, frozen=True):
    """The events received of one call: sequence numbers in order of first arrival.

    `repeated` counts repetitions, `changed` those whose body differs from the first.
    """

    channel: str
    numbers: tuple[int, ...]
    is_ended: bool
    repeated: int
    changed: int

    @property
    def is_in_order(self) -> bool:
        """Whether the first arrivals are in order."""
        return list(self.numbers) == sorted(self.numbers)

    @property
    def missing(self) -> int:
        """The number of gaps below the highest sequence number."""
        return max(self.numbers) + 1 - len(self.numbers)


def receipts_by_call(received: Iterable[CallbackRequest]) -> dict[str, Receipt]:
    """Return the receipts by call id."""
    by_call: defaultdict[str, list[CallbackRequest]] = defaultdict(list)
    for each in received:
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
