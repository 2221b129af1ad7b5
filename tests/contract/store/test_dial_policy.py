"""Dial policies and do-not-call lists in every store: changes apply in sequence or not at all."""

import asyncio

import msgspec

from engine.runtime.base.interfaces import DialDecision
from engine.runtime.policy.dial_policy import DialPolicy
from engine.store.store import Store
from tests.harness.calls.builders import outbound
from wire.dial_policy import AccountDialPolicy, DncListChange

ONE, TWO, THREE = "+4790000001", "+4790000002", "+4790000003"


async def on_list(store: Store, *numbers: str, account: str = "acme") -> bool | None:
    """Return whether any of the numbers is on a list."""
    return await store.dial_policies.is_listed(account, numbers)


async def test_terms_are_kept_by_account(store: Store) -> None:
    """A policy is put, replaced, read and listed within its account."""
    assert await store.dial_policies.get("acme") is None
    await store.dial_policies.put("acme", b"{1}")
    await store.dial_policies.put("acme", b"{2}")
    await store.dial_policies.put("other", b"{3}")
    assert await store.dial_policies.get("acme") == b"{2}"
    assert await store.dial_policies.all() == {"acme": b"{2}", "other": b"{3}"}


async def test_a_list_is_known_when_it_is_whole(store: Store) -> None:
    """An incomplete list is unknown; accounts have separate lists."""
    assert await on_list(store, ONE) is None
    assert (
        await store.dial_policies.change_list(
            "acme", DncListChange(0, 2, (ONE, TWO), is_whole=False)
        )
        == 2
    )
    assert await on_list(store, ONE) is None
    assert await store.dial_policies.change_list("acme", DncListChange(2, 3, (THREE,), (TWO,))) == 3
    assert [await on_list(store, each) for each in (ONE, TWO, THREE)] == [True, False, True]
    assert await on_list(store, TWO, THREE) is True
    assert await on_list(store, ONE, account="other") is None
    assert await store.dial_policies.list_versions(["acme", "other"]) == [3, 0]
    assert await store.dial_policies.list_versions([]) == []


async def test_a_change_of_another_state_is_not_made(store: Store) -> None:
    """A change to another version than the current one fails; a repetition is harmless."""
    await store.dial_policies.change_list("acme", DncListChange(0, 5, (ONE,)))
    assert await store.dial_policies.change_list("acme", DncListChange(4, 6, (TWO,))) == 5
    assert await store.dial_policies.change_list("acme", DncListChange(7, 8, (TWO,))) == 5
    assert await store.dial_policies.change_list("acme", DncListChange(5, 6, (THREE,))) == 6
    assert await store.dial_policies.change_list("acme", DncListChange(5, 6, (THREE,))) == 6
    assert await on_list(store, ONE, TWO, THREE) is True
    assert await on_list(store, TWO) is False


async def test_a_list_is_replaced(store: Store) -> None:
    """`after` 0 replaces the list; a deleted list is unknown."""
    await store.dial_policies.change_list("acme", DncListChange(0, 5, (ONE,)))
    assert await store.dial_policies.change_list("acme", DncListChange(0, 2, (TWO,))) == 2
    assert [await on_list(store, each) for each in (ONE, TWO)] == [False, True]
    await store.dial_policies.change_list("acme", DncListChange(0, 1, is_whole=False))
    assert await on_list(store, TWO) is None
    await store.dial_policies.delete_list("acme")
    assert await store.dial_policies.list_versions(["acme"]) == [0]


async def test_a_list_may_be_empty(store: Store) -> None:
    """An empty list differs from no list."""
    await store.dial_policies.change_list("acme", DncListChange(0, 1))
    assert await on_list(store, ONE) is False


async def test_many_changes_at_once(store: Store) -> None:
    """The maximum number of changes, from two concurrent clients."""
    many = tuple(f"+479{number:07}" for number in range(10_000))
    changes = (DncListChange(0, 10_000, many), DncListChange(0, 10_000, many))
    await asyncio.gather(*(store.dial_policies.change_list("acme", each) for each in changes))
    assert await on_list(store, many[-1]) is True
    await store.dial_policies.change_list("acme", DncListChange(10_000, 20_000, (), many))
    assert await on_list(store, *many[:100]) is False


async def test_a_book_over_a_store(store: Store) -> None:
    """Stored policies decide: prefixes, the list, the account's caller id."""
    terms = AccountDialPolicy(("+47",), ("+4721930000",), do_not_call=True)
    await store.dial_policies.put("acme", msgspec.json.encode(terms))
    await store.dial_policies.change_list("acme", DncListChange(0, 1, (ONE,)))
    policy = DialPolicy(store.dial_policies, lambda: 5_000)

    async def decide(party: str) -> DialDecision:
        decision: asyncio.Future[DialDecision] = asyncio.get_running_loop().create_future()
        policy.authorize(outbound(), party, "+15550001", decision.set_result)
        return await decision

    refusals = [(await decide(each)).rejection for each in (ONE, TWO, "+15550001")]
    assert refusals == ["do_not_call", "", "not_allowed"]
    assert (await decide(TWO)).caller_id == "+4721930000"
    await policy.close()


async def test_stopped_accounts(store: Store) -> None:
    """They are those whose last policy says so."""
    await store.dial_policies.put("a1", b"{}", is_stopped=True)
    await store.dial_policies.put("a2", b"{}")
    assert await store.dial_policies.stopped() == {"a1"}
    await store.dial_policies.put("a1", b"{}")
    assert await store.dial_policies.stopped() == frozenset()
