"""Which calls of a world are recorded, and who leaves messages, in half of all worlds."""

import random
from typing import TypeVar

from msgspec.structs import replace

from wire.rpc import NumberRoute, Originate, RecordCall

Asked = TypeVar("Asked", NumberRoute, Originate)


class Recorders:
    """Those who want recordings in one world."""

    def __init__(self, chance: random.Random, *, is_wanted: bool) -> None:
        self.chance = chance
        self.messages = chance if is_wanted else None
        self.archive_url = "sim://" if is_wanted else ""
        self._is_wanted = is_wanted

    def wished(self, asked: Asked) -> Asked:
        """Want what is asked to be recorded, in either form, or not."""
        if not self._is_wanted or self.chance.random() < 0.4:
            return asked
        return replace(asked, record_call=self.chance.choice((True, RecordCall(enable=True))))


def choose(seed: int) -> Recorders:
    """Choose them for a world."""
    chance = random.Random(f"record {seed}")
    return Recorders(chance, is_wanted=chance.random() < 0.5)
