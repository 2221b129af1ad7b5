"""What tests of stores ask again and again."""

from collections.abc import Callable

from engine.store.store import Store

Opener = Callable[..., Store]


async def claimed(store: Store, slot: int, owner: str = "engine1") -> int:
    """Claim a slot whose lease ends at once, so that anybody may claim it next."""
    token = await store.claim(slot, owner, 0)
    assert token is not None, f"slot {slot} is another's"
    return token
