"""Options that name parts of a call: ids, short names, parties; errors list the choices."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

from cyclopts import Parameter

from base.timeline import wording
from cli.errors import UsageError
from wire.control import ConferenceView, MemberView
from wire.views import CallStreams, CallView, LegView, StreamView

CallId = Annotated[str, Parameter(help="Call id.")]
ChannelName = Annotated[
    str, Parameter(help="Channel: main, agent id, number, or end of the channel id.")
]
ShortNames = Mapping[str, tuple[str, ...]]  # by full id
DEFAULT_REQUESTER = "operator"
Requester = Annotated[str, Parameter(help="Id of the requesting agent.")]


def leg_of(call: CallView, name: str) -> LegView:
    """Return the live leg with this name."""
    legs = {each.channel_id: each for each in call.legs}
    choices = {each.channel_id: leg_names(call, each) for each in call.legs}
    return legs[_pick(f"channel of call {call.call_id}", name, choices)]


def member_of(call: CallView, name: str) -> MemberView:
    """Return the member with this name, in the active or latest conference."""
    members = {each.channel_id: each for each in conference_of(call).members}
    choices = {
        each.channel_id: _names(call, each.channel_id, each.party, each.agent_id)
        for each in members.values()
    }
    return members[_pick("member of the conference", name, choices)]


def conference_of(call: CallView) -> ConferenceView:
    """Return the active or latest conference."""
    if not call.conferences:
        raise UsageError(
            f"call {call.call_id} has no conference; `switchroom conference add` starts one"
        )
    return call.conferences[-1]


def transfer_of(call: CallView, name: str) -> str:
    """Return the session id of the transfer with this name, by default the latest."""
    choices: ShortNames = {each.transfer_session_id: () for each in call.transfers}
    if not choices:
        raise UsageError(f"call {call.call_id} has no transfer; `switchroom transfer` starts one")
    if not name:
        return call.transfers[-1].transfer_session_id
    return _pick(f"transfer of call {call.call_id}", name, choices)


def stream_of(view: CallStreams, name: str) -> StreamView:
    """Return the live stream with this id, or of the bot with this host."""
    streams = {each.stream_id: each for each in view.streams}
    choices = {each.stream_id: _hosts(each.url) for each in view.streams}
    return streams[_pick(f"stream of call {view.call_id}", name, choices)]


def _hosts(url: str) -> tuple[str, ...]:
    """Return the host of a bot with its port, if it has one, and without."""
    return tuple(dict.fromkeys((wording.host(url), urlsplit(url).hostname or "")))


def leg_names(call: CallView, leg: LegView) -> tuple[str, ...]:
    """Return the short names of a leg, the shortest first."""
    return _names(call, leg.channel_id, leg.party, leg.agent_id)


def _names(call: CallView, channel: str, party: str, agent: str | None) -> tuple[str, ...]:
    main = ("main",) if channel == call.main_channel_id else ()
    kind, _, rest = party.partition(":")
    short = (rest if kind == "agent" else rest.partition("@")[0],) if rest else ()
    names = (*main, agent or "", *short, party, party.removeprefix("+"))
    return tuple(dict.fromkeys(each for each in names if each))


def _pick(what: str, name: str, choices: ShortNames) -> str:
    """Choose by full id or name, else by the end of an id."""
    if not choices:
        raise UsageError(f"there is no {what}")
    found = [each for each, names in choices.items() if name in (each, *names)]
    found = found or [each for each in choices if name and each.endswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"“{name}” matches more than one {what}; use an id:{_list(found)}")
    lines = [", ".join((each, *names)) for each, names in choices.items()]
    raise UsageError(f"no {what} matches “{name}”; choices:{_list(lines)}")


def _list(lines: list[str]) -> str:
    return "".join(f"\n  {each}" for each in lines)


@Parameter(name="*")
@dataclass(frozen=True)
class PartyOptions:
    """The party to dial, and how."""

    agent: Annotated[str, Parameter(help="Agent to dial.")] = ""
    number: Annotated[str, Parameter(help="Number or sip: address to dial.")] = ""
    name: Annotated[str, Parameter(help="Display name of the agent.")] = ""
    moh: Annotated[str, Parameter(help="Hold-music URL.")] = ""
    timeout: Annotated[float, Parameter(help="Ring timeout in seconds.")] = 30

    def check(self) -> None:
        """Check that either an agent or a number is given; raises UsageError."""
        if bool(self.agent) == bool(self.number):
            raise UsageError("exactly one of --agent and --number is required")
        if self.name and not self.agent:
            raise UsageError("--name requires --agent")

    def target(self) -> dict[str, str]:
        """Return the target of a transfer; raises UsageError."""
        self.check()
        if not self.agent:
            return {"kind": "number", "number": self.number}
        name = {"agentName": self.name} if self.name else {}
        return {"kind": "agent", "agentId": self.agent, **name}

    def member(self) -> dict[str, Any]:
        """Return the new member of a conference; raises UsageError."""
        self.check()
        if not self.agent:
            return {"targetExternalNumber": self.number}
        name = {"targetAgentNames": {self.agent: self.name}} if self.name else {}
        return {"targetAgentIds": [self.agent], **name}

    def ringing(self) -> dict[str, Any]:
        """Return the ring timeout and the hold music."""
        return {"timeout": self.timeout} | ({"mohAudioUrl": self.moh} if self.moh else {})


NO_PARTY = PartyOptions()
