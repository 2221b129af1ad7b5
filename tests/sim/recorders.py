"""Chooses the recorded calls and the voicemail of a world; half of the worlds have none."""

import random
from typing import TypeVar

from msgspec.structs import replace

from wire.rpc import NumberRoute, Originate, RecordCall

Recordable = TypeVar("Recordable", NumberRoute, Originate)


class Recorders:
    """The recording settings of one world."""

    def __init__(self, own_rng: random.Random, *, is_wanted: bool) -> None:
        self.own_rng = own_rng
        self.messages = own_rng if is_wanted else None
        self.archive_url = "sim://" if is_wanted else ""
        self._is_wanted = is_wanted

    def with_recording(self, request: Recordable) -> Recordable:
        """Return the request with recording in either form, or without."""
        if not self._is_wanted or self.own_rng.random() < 0.4:
            return request
        return replace(request, record_call=self.own_rng.choice((True, RecordCall(enable=True))))


def choose(seed: int) -> Recorders:
    own_rng = random.Random(f"record {seed}")
    return Recorders(own_rng, is_wanted=own_rng.random() < 0.5)
