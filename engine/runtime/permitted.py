"""What terms allow: which parties may be called, and what may be shown to them."""

import re

from engine.calls.call import Call
from engine.calls.ids import call_of
from wire.terms import Terms

_SEPARATORS = re.compile(r"[-.]")
_DIGITS = re.compile(r"\+?[0-9]{2,20}")


def is_allowed(terms: Terms, party: str) -> bool:
    """Tell whether a party may be called as far as prefixes say."""
    return terms.destinations is None or party.startswith(terms.destinations)


def full_numbers(party: str, country: str) -> tuple[str, ...]:
    """Give the numbers with their countries that a party may stand for; none for a name.

    A list has +4721930000: it is meant by 004721930000, sip:+4721930000@host, 4721930000, in
    Norway by 21930000, and by *31*21930000, too.
    """
    user = party.partition(":")[2].partition("@")[0] if party.startswith("sip") else party
    dialled = re.split(r"[*#]", _SEPARATORS.sub("", user))[-1]
    if _DIGITS.fullmatch(dialled) is None:
        return ()
    if dialled.startswith("+"):
        return (dialled,)
    if dialled.startswith("00"):
        return (f"+{dialled[2:]}",)
    with_country = (f"+{country}{dialled}", f"+{country}{dialled.removeprefix('0')}")
    return tuple(dict.fromkeys((f"+{dialled}", *(with_country if country else ()))))


def shown(terms: Terms, call: Call, caller_id: str, otherwise: str) -> str:
    """Give what may be shown: the caller id, or else the account's first number.

    Who calls in may be shown to those that are called for it: the account did not choose that.
    """
    if terms.numbers is None or not caller_id:
        return caller_id
    number = f"+{caller_id.removeprefix('+')}"
    if number in terms.numbers or (caller_id == call.from_ and _is_strangers(call)):
        return caller_id
    return next(iter(terms.numbers), otherwise)


def _is_strangers(call: Call) -> bool:
    """Tell whether somebody called in who is no agent: an agent's phone may say what it likes."""
    legs = (*call.legs, *(past.leg for past in call.past))
    by_agent = any(leg.agent_id and call_of(leg.id) is None for leg in legs)
    return call.direction == "inbound" and not by_agent
