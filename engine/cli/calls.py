"""Calls, over REST with the key of an account, or over the RPC as an operator."""

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

import msgspec

from engine.cli.errors import UsageError
from engine.cli.rest_client import RestClient
from wire.control import ConferenceView
from wire.views import CallView

T = TypeVar("T")
_OF_LEG = {"mute", "unmute", "hold", "unhold", "hangup"}
_INTERNALS: Mapping[str, Any] = {"node": "", "slot": 0}  # only operators see them
# What the REST layer does without; another value than this is an operator's.
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "mute": {"direction": "in"},
    "dial": {"timeout": 60},
    "transfers": {"timeout": 30},
    "conference/members": {"timeout": 30},
}


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


def _control_path(
    call_id: str, action: str, body: dict[str, Any]
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return path and body of the REST layer's operation; raises UsageError if it has none."""
    for name, default in _DEFAULTS.get(action, {}).items():
        if body.pop(name, default) != default:
            raise UsageError(f"--{name}: over REST only {default} is possible")
    of_call = {"callId": call_id, **body}
    match action.split("/"):
        case [name] if name in _OF_LEG:
            return ("call", call_id, name), body
        case ["dial"] if "callerId" in body:
            raise UsageError("--caller-id: over REST the call's own is shown")
        case ["dial"]:
            return ("dial",), of_call
        case ["transfers"]:
            return ("transfer", "init"), of_call
        case ["transfers", session, verb]:
            return ("transfer", verb), {**of_call, "transferSessionId": session}
        case ["conference", "members"]:
            return ("conference", "add-members"), of_call
        case ["conference", ("kick" | "leave") as verb]:
            return ("conference", verb), of_call
        case _:
            raise UsageError(f"{action}: the REST layer has no such operation; use --url")


def fields_of(calls: Calls, view: CallView) -> dict[str, Any]:
    """Return the fields of a call as the server has them."""
    found: dict[str, Any] = msgspec.to_builtins(view)
    return {k: v for k, v in found.items() if not calls.is_rest or k not in _INTERNALS}


def _view(details: dict[str, Any]) -> CallView:
    return msgspec.convert(_with_internals(details), CallView)


def _with_internals(details: dict[str, Any]) -> dict[str, Any]:
    """Return a call's details with what customers do not see."""
    return {**_INTERNALS, **details}
