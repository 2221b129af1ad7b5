"""Erasing a person removes the attempts that contain the number."""

from tests.contract.rpc.webhooks.scene import WebhookScene

ERASED = {"account": "acme", "number": "+4799999999", "region": "NO"}


async def test_attempts_with_the_number(webhook_scene: WebhookScene) -> None:
    """In a body, an address or a response; those of other numbers and accounts stay."""
    await webhook_scene.ask(0, b'{"from":"+4799999999"}')
    await webhook_scene.ask(1, b'{"from":"+4788888888"}')
    webhook_scene.url += "?from=%2B4799999999"
    await webhook_scene.ask(2)
    for account, removed in (("other", 0), ("acme", 2)):
        status, erased = await webhook_scene.scene.request(
            "POST", "/erasures", ERASED | {"account": account}
        )
        assert status == 200
        assert erased.get("attempts", 0) == removed
    (left,) = await webhook_scene.list()
    assert left["requestId"].endswith(".r1")


async def test_attempts_with_the_number_in_other_spellings(webhook_scene: WebhookScene) -> None:
    """As an address, a program's JSON and people write it."""
    for number, body in enumerate(
        (b'{"a":"9 9 9 9 9 9 9 9"}', b'{"a":"\\uff19\\uff199999\\u202f99"}')
    ):
        await webhook_scene.ask(number, body)
    webhook_scene.url += "?from=999%2099%20999"
    await webhook_scene.ask(2)
    _, erased = await webhook_scene.scene.request("POST", "/erasures", ERASED)
    assert erased["attempts"] == 3
