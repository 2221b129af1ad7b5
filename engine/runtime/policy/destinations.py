"""Which numbers an account may call: allowed and denied prefixes, and types of numbers."""

import re
from collections.abc import Iterator
from functools import lru_cache

from engine.runtime.base.interfaces import DialRejection
from wire.dial_policy import AccountDialPolicy, NumberType
from wire.party import Party
from wire.phone_numbers.e164 import calling_code, main_region, parsed_form, valid_reading
from wire.phone_numbers.international_form import dialled, international, to_dial
from wire.phone_numbers.number_types import costly_type, high_risk_range

_SEPARATORS = re.compile(r"[-.]")
_DIGITS = re.compile(r"\+?[0-9]{2,}")
_NO_DIGIT = re.compile(r"[^0-9]")
_NUMBER_LIKE = re.compile(r"[0-9+*#.\-]*")
MIN_SIP_DIGITS = 7  # of a user that a gateway may take for a number, whatever is between them
# Separates a service code before a number, its end mark, and digits to be sent after it.
_PARTS = re.compile(r"[*#]+|(?=\+)")
# ITU-T E.164D, and the codes that choose a carrier for an international call.
_INTERNATIONAL_PREFIXES = (
    "00", "011", "0011", "010", "810", "001", "002", "005", "006", "007", "008", "009",
    "0014", "0015", "0016", "0018", "0019", "0021", "0031", "0041", "0061", "00700", "0033010",
    "012", "013", "014", "119", "990", "994", "999",
)  # fmt: skip
_DIAL_AROUND = re.compile(r"101[0-9]{4}(?=011)")  # chooses a carrier in North America


def reject_destination(policy: AccountDialPolicy, party: str) -> DialRejection:
    """Return why the prefixes and number types of a policy do not allow a party."""
    allowed, number = policy.destinations, to_dial(party, region_of_policy(policy))
    if allowed is not None and not (number or party).startswith(allowed):
        return "not_allowed"
    if number is None:
        return "number_without_country"
    numbers = full_numbers(number, region_of_policy(policy))
    if policy.denied and any(each.startswith(policy.denied) for each in numbers):
        return "not_allowed"
    return "" if denied_type(policy, number) is None else "number_type"


def region_of_policy(policy: AccountDialPolicy) -> str:
    """Return the region of an account's numbers without a country; empty: none is known."""
    return policy.region or main_region(policy.country)


def denied_type(policy: AccountDialPolicy, party: str) -> NumberType | None:
    """Return the type of a party's number that a policy does not allow, if any."""
    if _is_service_code(party) and "service_code" not in policy.number_types:
        return "service_code"
    region = region_of_policy(policy)
    numbers = full_numbers(dialled(party, region), region)
    types = (_denied_type(policy, each) for each in numbers)
    return next((each for each in types if each is not None), None)


@lru_cache(maxsize=8_192)
def full_numbers(party: str, region: str) -> tuple[str, ...]:
    """Return the full numbers that a party may stand for; none for a name.

    If a list has +4721930000, it matches 004721930000, sip:+4721930000@host, 4721930000, in
    Norway 21930000, and *31*21930000 and +4721930000#, too.
    """
    user = _user(party)
    parts = [each for each in _PARTS.split(_SEPARATORS.sub("", user)) if _DIGITS.fullmatch(each)]
    digits = _NO_DIGIT.sub("", user)
    if not _NUMBER_LIKE.fullmatch(user) and len(digits) >= MIN_SIP_DIGITS:
        parts.append(digits)
    return tuple(dict.fromkeys(each for part in parts for each in _candidates(part, region)))


def _user(party: str) -> str:
    is_sip = Party.parse(party).kind == "sip"
    return party.partition(":")[2].partition("@")[0] if is_sip else party


def _is_service_code(party: str) -> bool:
    """Return whether a PBX may take it for a command: to divert calls, say."""
    return "*" in party or "#" in party


def _denied_type(policy: AccountDialPolicy, number: str) -> NumberType | None:
    kind = costly_type(number)
    if kind is not None and kind not in policy.number_types:
        return kind
    risky = high_risk_range(number)
    if not risky or "high_risk" in policy.number_types:
        return None
    # An allowed prefix that is within the range allows it: it names the country.
    is_named = any(each.startswith(risky) for each in policy.destinations or ())
    return None if is_named else "high_risk"


def _candidates(part: str, region: str) -> Iterator[str]:
    digits, country = _DIAL_AROUND.sub("", part.removeprefix("+")), calling_code(region)
    abroad = _behind_prefixes(digits)
    # 994 is a prefix in Finland and the code of Azerbaijan, whose numbers have a plus sign.
    if abroad and part.startswith("+") and valid_reading(part, None):
        abroad = []
    bare = digits.lstrip("0")
    if digits != bare and (part.startswith("+") or (country and bare.startswith(country))):
        abroad.append(f"+{bare}")
    at_home = [f"+{country}{digits}", f"+{country}{digits.removeprefix('0')}", f"+{country}{bare}"]
    yield f"+{digits}"
    yield from abroad
    if country and not part.startswith("+"):
        yield from at_home
    for number in (f"+{digits}", *abroad):
        yield parsed_form(number)
        yield international(number, "")
    if (number := international(part, region)).startswith("+"):
        yield number


def _behind_prefixes(digits: str) -> list[str]:
    """Return what a number may be whose digits begin with prefixes of international calls."""
    return [
        f"+{digits.removeprefix(each).lstrip('0')}"
        for each in _INTERNATIONAL_PREFIXES
        if digits.startswith(each)
    ]
