"""Status callbacks over both stores and real HTTP: what a customer gets, and when it gets none."""

import pytest
from standardwebhooks.webhooks import WebhookVerificationError

from engine.store.store import Store
from tests.contract.callbacks.bench import SLOT, posting, secret_of, verified
from tests.harness.customers.callback_server import Customer, hangs, scripted, talks_on
from tests.harness.until import until


async def test_a_signed_event(store: Store) -> None:
    """An event that is stored goes out at once, signed as the reference library has it."""
    async with Customer() as customer, posting(store) as post:
        secret = await post.target(customer.url("/told"))
        await post.tell("3-pbx1-aaaaaaaa", 0)
        await customer.has(1)
        await post.emptied()
    got = customer.got[0]
    assert got.path == "/told"
    assert verified(secret, got.body, got.headers) == got.event
    assert got.event["id"] == got.id == "3-pbx1-aaaaaaaa.e0"
    assert got.event["customData"] == {"order": 4711}
    with pytest.raises(WebhookVerificationError):
        verified(secret_of(b"x"), got.body, got.headers)
    assert len(customer.got) == 1


async def test_in_order(store: Store) -> None:
    """A call's events come one after another, also those told while one is on its way."""
    async with Customer() as customer, posting(store) as post:
        await post.target(customer.url("/"))
        for call in ("3-pbx1-aaaaaaaa", "3-pbx1-bbbbbbbb"):
            await post.tell(call, 0, 1)
            for number in range(2, 40):
                await post.tell(call, number)
        await post.emptied()
        for call in ("3-pbx1-aaaaaaaa", "3-pbx1-bbbbbbbb"):
            assert customer.ids(call) == [f"{call}.e{number}" for number in range(40)]


async def test_again_with_the_same_id(store: Store) -> None:
    """What fails is tried again with its id, and holds back what follows in its call alone."""
    async with Customer() as customer, posting(store) as post:
        await post.target(customer.url("/"))
        customer.answers["/"] = scripted(500, 503, 204)
        await post.tell("3-pbx1-aaaaaaaa", 0)
        await post.tell("3-pbx1-aaaaaaaa", 1)
        await post.emptied()
    assert customer.ids() == [f"3-pbx1-aaaaaaaa.e{number}" for number in (0, 0, 0, 1)]
    assert post.meter.callbacks.retried.total == 2


async def test_dead_letters(store: Store) -> None:
    """What was tried in vain is kept, goes on with the next, and can be sent again."""
    async with Customer() as customer, posting(store) as post:
        await post.target(customer.url("/"))
        customer.answers["/"] = scripted(500, 500, 500, 204)
        await post.tell("3-pbx1-aaaaaaaa", 0, 1)
        await post.emptied()
        letters = await store.outbox.dead_letters(SLOT, "acme", "", 10)
        assert [(each.call_id, each.seq, each.reason, each.tries) for each in letters] == [
            ("3-pbx1-aaaaaaaa", 0, "status_500", 3)
        ]
        assert await store.outbox.dead_letters(SLOT, "others", "", 10) == []
        assert await store.outbox.resend(SLOT, "others", [letters[0].entry], 10) == 0
        assert await store.outbox.resend(SLOT, "acme", [letters[0].entry], 10) == 1
        await customer.has(5)
        await post.emptied()
        assert await store.outbox.dead_letters(SLOT, "acme", "", 10) == []
    assert customer.ids()[-2:] == ["3-pbx1-aaaaaaaa.e1", "3-pbx1-aaaaaaaa.e0"]


async def test_gone(store: Store) -> None:
    """410 stops the account's target: nothing more is sent, and nothing is lost."""
    async with Customer() as customer, posting(store) as post:
        await post.target(customer.url("/"))
        customer.answers["/"] = scripted(410)
        await post.tell("3-pbx1-aaaaaaaa", 0, 1)
        await post.emptied()
        await post.tell("3-pbx1-bbbbbbbb", 0)
        await post.emptied()
        letters = await store.outbox.dead_letters(SLOT, "acme", "", 10)
        assert [each.reason for each in letters] == ["gone", "gone", "stopped"]
        assert await post.accounts.auto_set("acme") is None
    assert len(customer.got) == 1


async def test_retry_after(store: Store) -> None:
    """A server that asks for time gets it."""
    async with Customer() as customer, posting(store) as post:
        await post.target(customer.url("/"))
        customer.answers["/"] = scripted(429, 204, Retry_After="1")
        await post.tell("3-pbx1-aaaaaaaa", 0)
        await post.emptied()
    first, second = customer.got
    assert second.at_s - first.at_s >= 1


async def test_a_redirect_is_not_followed(store: Store) -> None:
    """It counts as a failure."""
    async with Customer() as customer, posting(store) as post:
        await post.target(customer.url("/"))
        customer.answers["/"] = scripted(307, Location="/elsewhere")
        await post.tell("3-pbx1-aaaaaaaa", 0)
        await post.emptied()
        letters = await store.outbox.dead_letters(SLOT, "acme", "", 10)
    assert [each.reason for each in letters] == ["redirect"]
    assert {each.path for each in customer.got} == {"/"}


async def test_a_private_address(store: Store) -> None:
    """It is refused where the socket is made."""
    async with Customer() as customer, posting(store, allow=()) as post:
        await post.target(customer.url("/"))
        await post.tell("3-pbx1-aaaaaaaa", 0)
        await post.emptied()
        letters = await store.outbox.dead_letters(SLOT, "acme", "", 10)
    assert [each.reason for each in letters] == ["refused_address"]
    assert customer.got == []


async def test_an_endless_answer(store: Store) -> None:
    """What is answered beside the status is nobody's concern, however long it is."""
    async with Customer() as customer, posting(store) as post:
        await post.target(customer.url("/"))
        customer.answers["/"] = talks_on
        await post.tell("3-pbx1-aaaaaaaa", 0, 1)
        await post.emptied()
    assert customer.ids() == ["3-pbx1-aaaaaaaa.e0", "3-pbx1-aaaaaaaa.e1"]


async def test_one_that_hangs_delays_no_other(store: Store) -> None:
    """Another account's events go on at once; those of the hanging one wait, and its circuit."""
    async with Customer() as customer, Customer() as bad, posting(store, answer_s=3) as post:
        await post.target(customer.url("/"), "good")
        await post.target(bad.url("/"), "bad", concurrency=4)
        bad.answers["/"] = hangs
        for number in range(50):
            await post.tell(f"3-pbx1-bad{number:05}", 0, account="bad")
        for number in range(50):
            await post.tell(f"3-pbx1-good{number:05}", 0, account="good")
        await customer.has(50)
        await until(lambda: len(bad.got) >= 5, what="its circuit to have opened")
        assert customer.got[-1].at_s < bad.got[4].at_s  # it hangs four times at once, for 3 s
        bad.answers.clear()
        await post.emptied(30)
        assert len(set(bad.ids())) == 50


async def test_rotation(store: Store) -> None:
    """Two secrets sign while they rotate; then the new one alone is shown to nobody."""
    async with Customer() as customer, posting(store) as post:
        old = await post.target(customer.url("/"))
        after = await post.accounts.rotate_secret("acme")
        assert after is not None
        await post.tell("3-pbx1-aaaaaaaa", 0)
        await customer.has(1)
        await post.emptied()
    got = customer.got[0]
    assert after.secret != old
    for secret in (old, after.secret):
        assert verified(secret, got.body, got.headers) == got.event


async def test_no_lease_no_delivery(store: Store) -> None:
    """Who may have lost the slot sends nothing; who has it next delivers what is left."""
    async with Customer() as customer, posting(store) as stale:
        await stale.target(customer.url("/"))
        stale.lease.holds = False
        await stale.tell("3-pbx1-aaaaaaaa", 0, 1)
        await stale.courier.drain(SLOT)
        async with posting(store) as post:
            await post.emptied()
    assert customer.ids() == ["3-pbx1-aaaaaaaa.e0", "3-pbx1-aaaaaaaa.e1"]
