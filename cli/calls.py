"""Calls, over REST with the key of an account, or over the RPC as an operator."""

import re
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

import msgspec

from cli.errors import UsageError
from cli.options.party import DEFAULT_REQUESTER
from cli.rest_client import RestClient
from wire.control import ConferenceView
from wire.views import CallStreams, CallView, Timeline

T = TypeVar("T")
_OF_LEG = {"mute", "unmute", "hold", "unhold", "hangup"}
_CAPITAL = re.compile("[A-Z]")
_INTERNALS: Mapping[str, Any] = {"node": "", "slot": 0}  # only operators see them


class Calls(Protocol):
    """Calls that can be started, shown and controlled; raises RpcError or Unreachable."""

    is_rest: bool

    async def originate(self, body: Mapping[str, Any], idempotency_key: str = "") -> str:
        """Start a call; return its id. With a key that was used before, it is that call's."""
        ...

    async def call(self, call_id: str) -> CallView: ...

    async def control(
        self, shape: type[T], call_id: str, action: str, body: Mapping[str, Any]
    ) -> T:
        """Control a live call; `action` is the path below the call's, as the RPC has it."""
        ...

    async def conference(self, call_id: str) -> ConferenceView:
        """Return the active or latest conference of a call."""
        ...

    async def streams(self, call_id: str) -> CallStreams:
        """Return the live streams of a call."""
        ...

    async def timeline_fields(self, call_id: str) -> dict[str, Any]:
        """Return what happened in a call, as the server has it."""
        ...


class RestCalls:
    """The calls of the account that a key belongs to."""

    is_rest = True

    def __init__(self, rest: RestClient) -> None:
        self._rest = rest

    async def originate(self, body: Mapping[str, Any], idempotency_key: str = "") -> str:
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        found = await self._rest.request(
            dict[str, Any], "POST", "voice", "call", body=dict(body), headers=headers
        )
        return str(found["callId"])

    async def call(self, call_id: str) -> CallView:
        path = ("voice", "call-details", call_id)
        return _view(await self._rest.request(dict[str, Any], "GET", *path))

    async def calls(self, filters: Mapping[str, str]) -> tuple[CallView, ...]:
        """List the live calls that match the filters of the REST layer."""
        rows = self._rest.rows("voice", "calls", query=filters)
        return tuple([_view(each) async for each in rows])

    async def control(
        self, shape: type[T], call_id: str, action: str, body: Mapping[str, Any]
    ) -> T:
        path, sent = _control_path(call_id, action, dict(body))
        found = await self._rest.request(dict[str, Any], "POST", "voice", *path, body=sent)
        return msgspec.convert(_with_internals(found) if shape is CallView else found, shape)

    async def conference(self, call_id: str) -> ConferenceView:
        path, body = ("voice", "conference", "members"), {"callId": call_id}
        return await self._rest.request(ConferenceView, "POST", *path, body=body)

    async def streams(self, call_id: str) -> CallStreams:
        return await self._rest.request(CallStreams, "GET", "voice", "streams", call_id)

    async def timeline_fields(self, call_id: str) -> dict[str, Any]:
        path = ("voice", "call", call_id, "timeline")
        return await self._rest.request(dict[str, Any], "GET", *path)


def _control_path(
    call_id: str, action: str, body: dict[str, Any]
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return path and body of the REST layer's operation; raises UsageError if it has none."""
    of_call = {"callId": call_id, **body}
    match action.split("/"):
        case [name] if name in _OF_LEG:
            return ("call", call_id, name), body
        case ["recording", verb]:
            return ("call", call_id, "recording", verb), body
        case ["dial"]:
            return ("dial",), of_call
        case ["transfers"]:
            return ("transfer", "init"), {"sourceAgentId": DEFAULT_REQUESTER, **of_call}
        case ["transfers", session, verb]:
            return ("transfer", verb), {**of_call, "transferSessionId": session}
        case ["conference", "members"]:
            return ("conference", "add-members"), of_call
        case ["conference", ("kick" | "leave" | "coach") as verb]:
            return ("conference", verb), of_call
        case ["streams"]:
            return ("streams", call_id, "start"), body
        case ["streams", stream, verb]:
            return ("streams", call_id, stream, verb), body
        case _:
            raise UsageError(f"{action}: the REST layer has no such operation; use --url")


def timeline_of(calls: Calls, fields: dict[str, Any]) -> Timeline:
    """Return a timeline; that of the REST layer lacks what only operators see."""
    if not calls.is_rest:
        return msgspec.convert(fields, Timeline)
    moments = [
        {**each, "event": _snake(each["event"]), "commands": [*map(_snake, each["commands"])]}
        for each in fields["moments"]
    ]
    call = _with_internals(fields["call"])
    return msgspec.convert({**fields, "call": call, "moments": moments}, Timeline)


def _snake(fields: dict[str, Any]) -> dict[str, Any]:
    """Return an event or command with the names that it has in an engine."""
    return {_CAPITAL.sub(r"_\g<0>", name).lower(): value for name, value in fields.items()}


def fields_of(calls: Calls, view: CallView) -> dict[str, Any]:
    """Return the fields of a call as the server has them."""
    found: dict[str, Any] = msgspec.to_builtins(view)
    return {k: v for k, v in found.items() if not calls.is_rest or k not in _INTERNALS}


def _view(details: dict[str, Any]) -> CallView:
    return msgspec.convert(_with_internals(details), CallView)


def _with_internals(details: dict[str, Any]) -> dict[str, Any]:
    """Return a call's details with what customers do not see."""
    return {**_INTERNALS, **details}
