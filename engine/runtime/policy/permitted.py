"""What terms allow: which parties may be called, and what may be shown to them."""

import re
from collections.abc import Iterator

from engine.calls.model.call import Call
from engine.calls.model.ids import call_of
from wire.dial_policy import Terms

_SEPARATORS = re.compile(r"[-.]")
_DIGITS = re.compile(r"\+?[0-9]{2,20}")
# A service's code before a number, a sign that ends it, digits that are sent after it.
_PARTS = re.compile(r"[*#]+|(?=\+)")
_ABROAD = ("00", "011", "0011", "010", "810")  # as it is dialled here and there (ITU-T E.164D)
# Where a country's code ends (ITU-T E.164D); behind it the zero of calls at home is left out.
_ZERO = re.compile(
    r"(\+(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]"
    r"|(?:2[1-689]|3[578]|42|5[09]|6[7-9]|8[035789]|9[679])[0-9]))0([0-9]{4,})"
)


def is_allowed(terms: Terms, party: str) -> bool:
    """Tell whether a party may be called as far as prefixes say."""
    return terms.destinations is None or party.startswith(terms.destinations)


def full_numbers(party: str, country: str) -> tuple[str, ...]:
    """Give the numbers with their countries that a party may stand for; none for a name.

    A list has +4721930000: it is meant by 004721930000, sip:+4721930000@host, 4721930000, in
    Norway by 21930000, and by *31*21930000 and +4721930000#, too.
    """
    user = party.partition(":")[2].partition("@")[0] if party.startswith("sip") else party
    parts = filter(_DIGITS.fullmatch, _PARTS.split(_SEPARATORS.sub("", user)))
    return tuple(dict.fromkeys(each for part in parts for each in _meant(part, country)))


def _meant(dialled: str, country: str) -> Iterator[str]:
    digits = dialled.removeprefix("+")
    abroad = [f"+{digits.removeprefix(each)}" for each in _ABROAD if digits.startswith(each)]
    at_home = [f"+{country}{digits}", f"+{country}{digits.removeprefix('0')}"]
    yield f"+{digits}"
    yield from abroad
    if country and not dialled.startswith("+"):
        yield from at_home
    for number in (f"+{digits}", *abroad):
        if found := _ZERO.fullmatch(number):
            yield "".join(found.groups())


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
