"""A call's timeline has the attempts of its requests, with the ids of the webhook log."""

from tests.contract.rpc.webhooks.scene import WebhookScene
from tests.harness.rpc.scene import SAY


async def test_attempts_of_the_call(webhook_scene: WebhookScene) -> None:
    """Those of other calls are not in it."""
    call_id = await webhook_scene.scene.start_call(action=SAY)
    await webhook_scene.ask()  # of another call
    await webhook_scene.actions.ask("acme", webhook_scene.url, b"{}", f"{call_id}.r0")
    await webhook_scene.scene.attempts.flush()
    (attempt,) = await webhook_scene.list(callId=call_id)
    status, timeline = await webhook_scene.scene.request("GET", f"/calls/{call_id}/timeline")
    assert status == 200
    assert timeline["attempts"] == [attempt]
