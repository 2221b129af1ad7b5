"""What tests of stores ask again and again."""

from collections.abc import Callable
from typing import Any

from engine.store.change import Change
from engine.store.store import Store

Opener = Callable[..., Store]


async def claimed(store: Store, slot: int, owner: str = "engine1") -> int:
    """Claim a slot whose lease ends at once, so that anybody may claim it next."""
    token = await store.claim(slot, owner, 0)
    assert token is not None, f"slot {slot} is another's"
    return token


def change(call_id: str = "c1", seq: int = 0, **facts: Any) -> Change:
    """Make the change of step `seq` of a call."""
    given: dict[str, Any] = {
        "node": "pbx1",
        "state": b"\x00state %d\xff" % seq,
        "log": (b"\xc1entry %d" % seq,),
    }
    return Change(call_id=call_id, seq=seq, **(given | facts))


async def live(store: Store, slot: int = 3) -> list[tuple[str, str, bytes]]:
    """Read all live calls."""
    return sorted([call async for call in store.live(slot)])
