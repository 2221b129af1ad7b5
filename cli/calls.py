"""Calls over REST: what several commands request, and how responses become views."""

from collections.abc import Mapping
from typing import Any

import msgspec

from cli.rest_client import RestClient
from wire.views import CallStreams, CallView, Timeline

_INTERNALS: Mapping[str, Any] = {"node": "", "slot": 0}  # only operators see them


async def get_call(rest: RestClient, call_id: str) -> CallView:
    path = ("voice", "call-details", call_id)
    return call_view(await rest.request(dict[str, Any], "GET", *path))


async def change_call(
    rest: RestClient, call_id: str, action: str, body: Mapping[str, Any]
) -> CallView:
    """Control a live call or a leg of it."""
    path = ("voice", "call", call_id, action)
    return call_view(await rest.request(dict[str, Any], "POST", *path, body=body))


async def get_streams(rest: RestClient, call_id: str) -> CallStreams:
    """Return the live streams of a call."""
    return await rest.request(CallStreams, "GET", "voice", "streams", call_id)


async def get_timeline(rest: RestClient, call_id: str) -> dict[str, Any]:
    """Return what happened in a call, as the server has it."""
    return await rest.request(dict[str, Any], "GET", "voice", "call", call_id, "timeline")


def timeline_of(fields: dict[str, Any]) -> Timeline:
    """Return a timeline; the node of its call is unknown."""
    call = {**_INTERNALS, **fields["call"]}
    return msgspec.convert({**fields, "call": call}, Timeline)


def call_view(details: dict[str, Any]) -> CallView:
    """Return the view of a call, whose node is unknown unless an operator listed it."""
    return msgspec.convert({**_INTERNALS, **details}, CallView)


def fields_of(view: CallView) -> dict[str, Any]:
    """Return the fields of a call as the server has them."""
    found: dict[str, Any] = msgspec.to_builtins(view)
    return {k: v for k, v in found.items() if view.node or k not in _INTERNALS}
