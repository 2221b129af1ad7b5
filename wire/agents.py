"""Agents: directory entries, endpoints and presence."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from wire.base import CallerId, Shape
from wire.decoding import patterns

TECHNOLOGY = "PJSIP"
Presence = Literal["online", "offline", "unknown"]
Endpoint = Annotated[str, Meta(pattern=patterns.ENDPOINT)]
PhoneKind = Literal["sip", "browser"]


class Agent(Shape, frozen=True):
    """An entry of an account's directory; `callerId` is shown when the agent calls.

    `phone` says what the endpoint is made for: a SIP phone, or a browser (WebRTC).
    """

    endpoint: Endpoint
    name: Annotated[str, Meta(max_length=128)] = ""
    caller_id: CallerId | None = None
    phone: PhoneKind = "sip"


class AgentPassword(Shape, frozen=True):
    """The password of an agent's phone, which an engine gives to the PBX nodes."""

    password: Annotated[str, Meta(min_length=16, max_length=128, pattern=patterns.PASSWORD)]


class PhoneDraft(AgentPassword, frozen=True, kw_only=True):
    """The password of the phone of an agent, as the REST layer has stored the agent."""

    agent: Agent


class LoginDraft(Shape, frozen=True, kw_only=True):
    """A login for a while of a phone in a browser, and what is stored of that phone so far."""

    agent: Agent
    username: Annotated[str, Meta(min_length=1, max_length=128, pattern=patterns.PASSWORD)]
    password: Annotated[str, Meta(min_length=16, max_length=128, pattern=patterns.PASSWORD)]
    expires_ms: Annotated[int, Meta(ge=0)]
    known: msgspec.Raw
    key_id: Annotated[str, Meta(max_length=64)] = ""  # the API key that creates it


class LoginNodes(Shape, frozen=True):
    """The PBX nodes that accept a login."""

    nodes: tuple[str, ...]


class DraftedPhone(Shape, frozen=True):
    """The document of a phone's password, and its id."""

    id: str
    document: msgspec.Raw


class AgentView(Shape, frozen=True):
    """An agent's current state: registrations and call; unknown: a node is disconnected."""

    agent_id: str
    endpoint: str
    presence: Presence
    busy: bool
    name: str = ""
    caller_id: str | None = None
    call_id: str | None = None
    nodes: tuple[str, ...] = ()


class Agents(Shape, frozen=True):
    """The agents of an account."""

    agents: tuple[AgentView, ...]


def account_of_endpoint(endpoint: str) -> str:
    """Return the account whose name an endpoint has, as `PJSIP/acme-ada`; empty: it has none.

    All before the last hyphen is the account, so no endpoint has the names of two. A name without a
    letter could be a telephone number, and the name of a template's endpoint has a dot.
    """
    name = phone_name(endpoint)
    account, _, rest = name.rpartition("-")
    return account if rest and "." not in name and any(map(str.isalpha, name)) else ""


def phone_name(endpoint: str) -> str:
    """Return the name of a PJSIP endpoint; empty for another technology."""
    technology, _, name = endpoint.partition("/")
    return name if technology == TECHNOLOGY else ""
