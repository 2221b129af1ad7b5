"""Erasing a person removes the attempts that contain the number."""

from tests.contract.rpc.webhooks.scene import WebhookScene

ERASED = {"account": "acme", "number": "+4799999999", "country": "47"}


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
