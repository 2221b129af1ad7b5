"""S10: an account may name the recognizers that its operator allows, as others cost money.

A gather that arrives in another way, as of a webhook, is refused when it starts: see
`tests/contract/runtime/streams/test_node_streams.py`.
"""

from typing import Any

import pytest

from engine.runtime.policy.dial_policy import DialPolicy
from tests.harness.memory_store.documents import MemoryDialPolicyStore
from tests.harness.rpc.scene import CALL, SAY, RpcScene
from wire.dial_policy import AccountDialPolicy


def gather(recognizer: str = "deepgram", **more: Any) -> dict[str, Any]:
    return {"type": "gather", "data": {"input": ["speech"], "recognizer": recognizer, **more}}


DEEP = {**SAY, "action": {**SAY, "action": gather()}}
DETECTION = {"machineDetection": {"onMachine": gather()}}
NODES = {"a": {**gather(), "next": "end"}, "end": {"type": "hangup"}}
ROUTE = {"account": "acme", "action": SAY}


@pytest.mark.parametrize(
    ("path", "body", "where"),
    [
        ("/calls", {**CALL, "action": DEEP}, "action.action.action.data.recognizer"),
        ("/calls", {**CALL, "action": SAY, "fallback": gather()}, "fallback.data.recognizer"),
        ("/calls", CALL | DETECTION, "machineDetection.onMachine.data.recognizer"),
        ("/routes/+4711/check", {**ROUTE, "action": gather()}, "action.data.recognizer"),
        ("/routes/+4711/check", {**ROUTE, "fallback": gather()}, "fallback.data.recognizer"),
        ("/flows/acme/menu/check", gather(), "data.recognizer"),
        ("/flows/acme/menu/check", {"start": "a", "nodes": NODES}, "nodes.a.data.recognizer"),
    ],
)
async def test_a_recognizer_that_is_not_allowed(
    scene: RpcScene, path: str, body: dict[str, Any], where: str
) -> None:
    """The error names the field and what is allowed; nothing is started or stored."""
    await scene.request("PUT", "/terms/acme", {"recognizers": ["grammar", "whisper"]})
    status, answer = await scene.request("POST", path, body)
    errors = {each["path"]: each for each in answer["errors"]}
    assert (status, errors[where]["code"]) == (400, "recognizer_not_allowed"), answer
    assert errors[where]["message"] == "expected one that this account may name: grammar, whisper"


@pytest.mark.parametrize(
    ("allowed", "action"),
    [
        (["grammar", "whisper"], gather("whisper")),
        (["deepgram"], gather()),
        (None, gather()),
        ([], {"type": "gather", "data": {"recognizer": "deepgram"}}),  # it hears no speech
    ],
)
async def test_what_is_allowed(
    scene: RpcScene, allowed: list[str] | None, action: dict[str, Any]
) -> None:
    """What the list has; without a list all."""
    await scene.request("PUT", "/terms/acme", {} if allowed is None else {"recognizers": allowed})
    assert (await scene.request("POST", "/calls", {**CALL, "action": action}))[0] == 201


async def test_a_flow_is_stored_again(scene: RpcScene) -> None:
    """After a loss of the store, whatever is stored first: the policy or the flow."""
    await scene.request("PUT", "/terms/acme", {"recognizers": []})
    await scene.documents.flow("acme", "menu", gather())
    await scene.documents.route("+4711", {**ROUTE, "action": gather()})


async def test_an_account_that_is_not_known() -> None:
    """It may name what costs nothing, until its policy is known."""
    policy = DialPolicy(MemoryDialPolicyStore(), lambda: 0)
    assert await policy.recognizers("acme") == ("grammar", "whisper")
    policy.update("acme", AccountDialPolicy(recognizers=("deepgram",)))
    assert await policy.recognizers("acme") == ("deepgram",)
