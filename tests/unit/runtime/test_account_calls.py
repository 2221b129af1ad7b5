"""Hanging up the live calls of stopped accounts."""

from collections.abc import Iterator

from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.calls.model.causes import EndedBy
from engine.runtime.call_service import AccountCalls, CallService
from engine.store.errors import StoreDown
from tests.harness.calls.builders import outbound


class ScriptedService(CallService):
    """Two calls of one account; hanging up the first one fails once."""

    def __init__(self) -> None:
        self.hung_up: list[tuple[str, EndedBy]] = []
        self.is_down = True

    def calls(self) -> Iterator[Call]:
        for call_id, account in (("a", "acme"), ("b", "acme"), ("c", "other")):
            yield replace(outbound(), id=call_id, account=account)

    async def hang_up(self, call: str, by: EndedBy) -> bool:
        if call == "a" and self.is_down:
            self.is_down = False
            raise StoreDown("planted")
        self.hung_up.append((call, by))
        return True


async def test_a_hangup_that_fails_is_repeated() -> None:
    """It does not keep the others, which are hung up once."""
    service = ScriptedService()
    calls = AccountCalls(service)
    await calls.hang_up(frozenset({"acme"}))
    assert service.hung_up == [("b", "system")]
    for _ in range(2):
        await calls.hang_up(frozenset({"acme"}))
    assert service.hung_up == [("b", "system"), ("a", "system")]
