"""Checks the flow of a number: only flows of kind `message` are allowed (docs/flows.md)."""

import msgspec
from msgspec import Struct

from api.common.errors import NotFound
from api.engine_client import EngineClient, id_in_path
from wire.decoding.errors import BadInput


class _FlowDocument(Struct, frozen=True):
    kind: str = "voice"


class MessageFlows(Struct, frozen=True):
    engine: EngineClient

    async def check(self, account_id: str, flow_id: str, path: str) -> None:
        """Check that the account has a message flow of this id; raises BadInput."""
        try:
            account, flow = id_in_path(account_id), id_in_path(flow_id)
            document = await self.engine.request_raw("GET", f"/flows/{account}/{flow}")
        except NotFound:
            raise BadInput(path, f"no flow {flow_id}", "unknown_flow") from None
        if _kind(document) != "message":
            text = "only Message-type flows are allowed: a flow of kind message"
            raise BadInput(path, text, "not_a_message_flow")


def _kind(document: bytes) -> str:
    try:
        return msgspec.json.decode(document, type=_FlowDocument).kind
    except msgspec.ValidationError:  # the document may be a URL instead of an object
        return _FlowDocument().kind
