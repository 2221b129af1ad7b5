"""Short names of a call's channels, members and sessions; raises BadUse with what there is."""

from collections.abc import Mapping
from typing import Annotated

from cyclopts import Parameter

from engine.cli.errors import UsageError
from wire.control import ConferenceView, MemberView
from wire.views import CallView, LegView

ChannelName = Annotated[
    str, Parameter(help="main, an agent's id, a party's number, or the end of a channel's id.")
]
ShortNames = Mapping[str, tuple[str, ...]]  # by whole id, the short names


def leg_of(call: CallView, named: str) -> LegView:
    """Find the live leg that is meant."""
    legs = {each.channel_id: each for each in call.legs}
    known = {each.channel_id: leg_names(call, each) for each in call.legs}
    return legs[_picked(f"channel of call {call.call_id}", named, known)]


def member_of(call: CallView, named: str) -> MemberView:
    """Find the member that is meant, in the live conference or the last."""
    members = {each.channel_id: each for each in conference_of(call).members}
    known = {
        each.channel_id: _names(call, each.channel_id, each.party, each.agent_id)
        for each in members.values()
    }
    return members[_picked("member of the conference", named, known)]


def conference_of(call: CallView) -> ConferenceView:
    """Give the live conference, or the last."""
    if not call.conferences:
        raise UsageError(f"call {call.call_id} has no conference; `conference add` makes one")
    return call.conferences[-1]


def transfer_of(call: CallView, named: str) -> str:
    """Find the session of the transfer that is meant; without a name, the latest."""
    known: ShortNames = {each.transfer_session_id: () for each in call.transfers}
    if not known:
        raise UsageError(f"call {call.call_id} has no transfer; `switchroom transfer` begins one")
    if not named:
        return call.transfers[-1].transfer_session_id
    return _picked(f"transfer of call {call.call_id}", named, known)


def leg_names(call: CallView, leg: LegView) -> tuple[str, ...]:
    """Give the short names of a leg, the shortest way to call it first."""
    return _names(call, leg.channel_id, leg.party, leg.agent_id)


def _names(call: CallView, channel: str, party: str, agent: str | None) -> tuple[str, ...]:
    main = ("main",) if channel == call.main_channel_id else ()
    kind, _, rest = party.partition(":")
    short = (rest if kind == "agent" else rest.partition("@")[0],) if rest else ()
    names = (*main, agent or "", *short, party, party.removeprefix("+"))
    return tuple(dict.fromkeys(each for each in names if each))


def _picked(what: str, named: str, known: ShortNames) -> str:
    """Choose by a whole id or a name; if that is none's, by the end of an id."""
    if not known:
        raise UsageError(f"there is no {what} any more, or not yet")
    found = [each for each, names in known.items() if named in (each, *names)]
    found = found or [each for each in known if named and each.endswith(named)]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"“{named}” may be more than one {what}; name one by its id:{_list(found)}"
        )
    told = [", ".join((each, *names)) for each, names in known.items()]
    raise UsageError(f"“{named}” is no {what}; there {_are(known)}:{_list(told)}")


def _are(known: ShortNames) -> str:
    return "is" if len(known) == 1 else "are"


def _list(told: list[str]) -> str:
    return "".join(f"\n  {each}" for each in told)
