"""The bodies of docs/how-to/transfers.md are those that the REST layer and the SDK read."""

import ast
import inspect
import re
from collections.abc import Callable
from typing import Any

import msgspec
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
