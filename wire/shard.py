"""Shards: the unit that an engine owns is one slot of one PBX node."""

import re
from functools import lru_cache

from msgspec import Struct

_SHARD = re.compile(r"(?P<node>[a-z0-9]{1,16})/(?P<slot>0|[1-9][0-9]{0,2})")


class ShardId(Struct, frozen=True, order=True, cache_hash=True, gc=False):
    """A slot of a node: the Stasis app `switchroom-<slot>` at that PBX."""

    node: str
    slot: int

    def __str__(self) -> str:
        return f"{self.node}/{self.slot}"


NO_SHARD = ShardId("", -1)  # of what is no call id


@lru_cache(maxsize=4_096)
def parse_shard(text: str) -> ShardId:
    """Parse a shard such as `pbx1/3`; raises ValueError."""
    found = _SHARD.fullmatch(text)
    if found is None:
        raise ValueError(f"no shard: {text!r}")
    return ShardId(found["node"], int(found["slot"]))
