"""What a refusal says, and those that several requests may meet."""

from typing import Literal

from msgspec import Struct

from engine.calls.model.call import Call

MOST_PARTIES = 32  # in one conversation, those who are being called among them


class Refusal(Struct, frozen=True):
    """Why a request can't be done: `missing` what it names, a `conflict` with what goes on."""

    kind: Literal["missing", "conflict"]
    code: str
    detail: str


def missing(code: str, detail: str) -> Refusal:
    """Refuse what names something that is not there."""
    return Refusal("missing", code, detail)


def conflict(code: str, detail: str) -> Refusal:
    """Refuse what goes against what the call is doing."""
    return Refusal("conflict", code, detail)


def no_leg(call: Call, *legs: str) -> Refusal | None:
    """Tell which of the legs that are named is not in the call."""
    lacking = [leg for leg in legs if call.leg(leg) is None]
    return missing("no_such_leg", f"no channel {lacking[0]} in this call") if lacking else None


def not_up(call: Call, *legs: str) -> Refusal | None:
    """Tell which of them is not answered."""
    down = [leg for leg in legs if not call.is_up(leg)]
    return conflict("leg_not_up", f"channel {down[0]} is not answered") if down else None


def no_session(session: str, known: list[str]) -> Refusal | None:
    """Tell that a session is none of the call's."""
    return None if session in known else missing("no_such_session", f"no session {session}")


def in_transfer(call: Call) -> Refusal | None:
    """Tell that a transfer is going on."""
    if call.transfer is None:
        return None
    return conflict("transfer_in_progress", f"transfer {call.transfer.id} is going on")


def full(call: Call) -> Refusal | None:
    """Tell that nobody more can be called in."""
    if len(call.legs) < MOST_PARTIES:
        return None
    return conflict("too_many_parties", f"a conversation has at most {MOST_PARTIES} parties")
