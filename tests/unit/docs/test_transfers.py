"""The bodies of docs/how-to/transfers.md are those that the REST layer and the SDK read."""

import ast
import inspect
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from switchroom_sdk.generated.resources import Conferences, Transfers

from api.voice.sessions.schemas import (
    AddMembersRequest,
    CancelTransferRequest,
    CompleteTransferRequest,
    TransferByPathRequest,
)
from tests.harness.page_blocks import DOCS, page_blocks

PAGE = DOCS / "how-to/transfers.md"
SHAPES = {
    "call/3-pbx1-7f3a/transfer/init": TransferByPathRequest,
    "transfer/complete": CompleteTransferRequest,
    "transfer/cancel": CancelTransferRequest,
    "conference/add-members": AddMembersRequest,
}
METHODS: dict[str, Callable[..., Any]] = {
    "switchroom.transfers.start": Transfers.start,
    "switchroom.transfers.complete": Transfers.complete,
    "switchroom.conferences.add": Conferences.add,
}
_SENT = re.compile(r"/srmain/voice/(\S+) -d '(.*?)'", re.DOTALL)


def test_the_bodies_are_read() -> None:
    """Each has the fields of its operation, and no others."""
    text = "".join(block.text for block in page_blocks(PAGE, "sh"))
    sent = dict(_SENT.findall(text))
    assert sent.keys() == SHAPES.keys()
    for path, body in sent.items():
        msgspec.json.decode(body, type=SHAPES[path])


def test_the_arguments_are_those_of_the_sdk() -> None:
    """Each method is called with its required arguments, and no unknown ones."""
    (block,) = page_blocks(PAGE, "python")
    calls = [each for each in ast.walk(ast.parse(block.text)) if isinstance(each, ast.Call)]
    found = {ast.unparse(each.func): each for each in calls}
    assert found.keys() >= METHODS.keys()
    for name, method in METHODS.items():
        named = {each.arg or "": object() for each in found[name].keywords}
        inspect.signature(method).bind(None, *found[name].args, **named)


class Sent(dict[str, Any]):
    """The arguments of a request of the SDK, whose response has the ids of a session."""

    transfer_session_id = conference_session_id = "s1"

    def request(self, *_path: str, **arguments: Any) -> "Sent":
        self.update(arguments)
        return self


@pytest.mark.parametrize("agent", [0, 1], ids=["called first", "called second"])
def test_the_source_is_the_agent(agent: int) -> None:
    """In a click-to-call, too, whose first leg is the agent's: the customer stays."""
    (block,) = page_blocks(PAGE, "python")
    page: dict[str, Any] = {}
    exec(block.text, page)  # noqa: S102 - a page of this repository
    agents = ["anna" if each == agent else None for each in range(2)]
    legs = [SimpleNamespace(channel_id=f"leg{n}", agent_id=name) for n, name in enumerate(agents)]
    transfer, invitation, other = Sent(), Sent(), Sent()
    switchroom = SimpleNamespace(
        calls=SimpleNamespace(get=lambda _call: SimpleNamespace(legs=legs)),
        transfers=SimpleNamespace(start=transfer.request, complete=other.request),
        conferences=SimpleNamespace(add=invitation.request),
    )
    page["transfer"](switchroom, "c1", "+4722222222")
    page["invite"](switchroom, "c1", "+4722222222")
    for sent in (transfer, invitation):
        assert sent["source_agent_id"] == "anna"
        assert sent["source_channel_id"] == f"leg{agent}"
        assert sent["customer_channel_id"] == f"leg{1 - agent}"
