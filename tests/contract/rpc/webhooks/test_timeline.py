"""A call's timeline has the attempts of its requests, with the ids of the webhook log."""

from tests.contract.rpc.harness.bench import SAY
from tests.contract.rpc.webhooks.scene import Scene


async def test_attempts_of_the_call(scene: Scene) -> None:
    """Those of other calls are not in it."""
    call_id = await scene.bench.start_call(action=SAY)
    await scene.ask()  # of another call
    await scene.actions.ask("acme", scene.url, b"{}", f"{call_id}.r0")
    await scene.bench.attempts.flush()
    (attempt,) = await scene.list(callId=call_id)
    status, timeline = await scene.bench.request("GET", f"/calls/{call_id}/timeline")
    assert status == 200
    assert timeline["attempts"] == [attempt]
