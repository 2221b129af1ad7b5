"""Reads what the dialplan passes about an incoming call: the caller, privacy, earlier numbers.

`Stasis(app,inbound,<dialled number>,<name>=<value>,…)`, see asterisk-config/etc/extensions.conf;
values of headers are percent-encoded.

Any phone can call, and a carrier passes on what its callers send. So all channels have their number
read, and only an admitted call from a trunk has its headers read: in linear time, up to a length.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from urllib.parse import quote, unquote

from msgspec import Struct

from engine.calls.model.call import CallerKind
from engine.calls.model.commands import ReplacedLeg
from engine.calls.model.requests import ReplacementArrived
from wire.party import Diversion

MAX_DIVERSIONS = 10
MAX_HEADER_LENGTH = 2_048  # of what is read of a header; about ten entries of History-Info
ANONYMOUS = frozenset({"anonymous", "restricted"})  # RFC 3323, 4.1.1.3; and gateways
# Values of Privacy (RFC 3323, RFC 3325) that withhold the caller's number.
WITHHELD = frozenset({"id", "user", "header", "full"})
# Values that withhold something else; for Asterisk they withhold the number, too.
_OTHER_PRIVACY = frozenset({"none", "session", "critical", "history"})
# Values of Remote-Party-ID (draft-ietf-sip-privacy) that withhold the number; `name` does not.
_WITHHELD_PARTY = WITHHELD | {"uri"}
# SIP causes of History-Info (RFC 4458) by their names in Diversion (RFC 5806).
_REASONS = {
    "302": "unconditional",
    "404": "unknown",
    "408": "no-answer",
    "480": "deflection",
    "486": "user-busy",
    "487": "deflection",
    "503": "unavailable",
}
# An entry of a list of addresses. What is opened and never closed goes on to the end: an expression
# that looks for the closing character of each opening one takes quadratic time.
_ENTRY = re.compile(r'(?:[^,"<]++|"(?:[^"\\]|\\.)*+"?|<[^>]*+>?)++')
_USER = re.compile(r"(?:sips?:|tel:)([^@>?]+)", re.IGNORECASE)
_NUMBER = re.compile(r"\+?[0-9]{2,20}")
_QUOTED_PAIR = re.compile(r"\\(.)")  # of a name (RFC 3261, 25.1), which Asterisk keeps
_REASON = re.compile(r";\s*reason\s*=\s*\"?([A-Za-z0-9.\-]{1,32})", re.IGNORECASE)
_CAUSE = re.compile(r";\s*cause=([0-9]{3})", re.IGNORECASE)
_OWN_CAUSE = re.compile(r"[?&]reason=sip;\s*cause=([0-9]{3})", re.IGNORECASE)
_PRIVACY = re.compile(r"[;?&]\s*privacy\s*=\s*\"?([a-z;]+)", re.IGNORECASE)
# A list of values may be quoted, and may continue after `;` or `,`.
_PARTY_PRIVACY = re.compile(
    r";\s*privacy\s*=\s*(\"[^\"]*+\"?|[^;,\"]*+(?:[;,][^;,=\"]*+(?![^;,]))*+)", re.IGNORECASE
)
_PARTY = re.compile(r";\s*party\s*=\s*\"?([a-z]+)", re.IGNORECASE)
_ANONYMOUS_HOST = re.compile(r"@anonymous\.invalid\b", re.IGNORECASE)  # RFC 3323, 4.1.1.3
_INDEX = re.compile(r";\s*index\s*=\s*([0-9.]{1,32})", re.IGNORECASE)


class IncomingArguments(Struct, frozen=True):
    """What the dialplan knows about any incoming call."""

    dialled: str = ""
    is_passed_on: bool = False  # by another engine, which had no room
    is_late_offer: bool = False  # the INVITE has no SDP


class CallerIdentity(Struct, frozen=True):
    """Who calls."""

    kind: CallerKind
    number: str = ""
    name: str = ""  # from the header that has the number; empty if it is withheld
    is_withheld: bool = False  # the caller's number must not be shown to others
    diversion: tuple[Diversion, ...] = ()  # the number that was called first comes first


def read_arguments(args: Sequence[str]) -> IncomingArguments:
    """Read those arguments of Stasis() after `inbound` that are no headers."""
    is_passed_on = is_late_offer = False
    for each in args:
        if each.startswith("no-sdp="):
            is_late_offer = is_late_offer or each != "no-sdp="
        elif each.startswith("passed-on="):
            is_passed_on = is_passed_on or each != "passed-on="
    return IncomingArguments(strip_parameters(args[0]) if args else "", is_passed_on, is_late_offer)


def read_identity(args: Sequence[str], caller: str) -> CallerIdentity:
    """Read who calls over a trunk; `args` as above, `caller` is Asterisk's number."""
    caller = caller[:MAX_HEADER_LENGTH]
    values: dict[str, list[str]] = {}
    for key, _equals, value in (each.partition("=") for each in args[1:]):
        if value:
            text = unquote(value[: 3 * MAX_HEADER_LENGTH])[:MAX_HEADER_LENGTH]
            values.setdefault(key, []).append(text)
    parties, asserted = _parties(values), [*_entries(values.get("asserted", ()))]
    diversion = _diversions(values.get("diversion", ()))
    if not diversion and "history" in values:
        diversion = _history(values["history"], strip_parameters(args[0]))
    return CallerIdentity(
        "trunk",
        number=_asserted(asserted) or _caller(values, parties, caller),
        name=_name(values, parties, asserted),
        is_withheld=_is_withheld(values, parties, caller),
        diversion=diversion[:MAX_DIVERSIONS],
    )


class _Party(Struct, frozen=True):
    """An entry of Remote-Party-ID."""

    number: str
    name: str
    is_calling: bool
    is_withheld: bool
    is_name_withheld: bool


def _parties(values: dict[str, list[str]]) -> list[_Party]:
    entries: list[list[str]] = []
    for each in _entries(values.get("rpid", [])):
        if _USER.search(each):
            entries.append([each])
        elif entries:  # the rest of a list of values
            entries[-1].append(each)
    return [_party(",".join(each)) for each in entries]


def _party(entry: str) -> _Party:
    parameters = _parameters(entry)
    tokens = {
        token.strip().lower()
        for privacy in _PARTY_PRIVACY.findall(parameters)
        for token in re.split(r"[-;,\"]", privacy)
    }
    return _Party(
        number=_user(entry),
        name=_display(entry),
        is_calling=_first(_PARTY, parameters).lower() in {"", "calling"},
        is_withheld=not _WITHHELD_PARTY.isdisjoint(tokens),
        is_name_withheld=not tokens.isdisjoint({"name", "full"}),
    )


def _caller(values: dict[str, list[str]], parties: Sequence[_Party], caller: str) -> str:
    """Return the caller's number; Asterisk takes that of the first party, whichever it is."""
    if not parties or parties[0].is_calling or parties[0].number != strip_parameters(caller):
        return caller
    calling = (each.number for each in parties if each.is_calling)
    senders = (_user(each) for each in values.get("from", []))
    return next((each for each in (*calling, *senders) if each), caller)


def _asserted(asserted: Sequence[str]) -> str:
    """Return the first number of P-Asserted-Identity, which may have a SIP and a tel: address.

    Asterisk reads none of a header with both (RFC 3325, section 9.1).
    """
    numbers = map(_user, asserted)
    return next((each for each in numbers if _NUMBER.fullmatch(each)), "")


def _name(values: dict[str, list[str]], parties: Sequence[_Party], asserted: Sequence[str]) -> str:
    """Return the caller's name: of the first header that has one, in the order of their trust.

    Asterisk takes the name of From beside a number of P-Asserted-Identity, or a called party's.
    """
    if asserted:
        return next(filter(None, map(_display, asserted)), "")
    calling = [each for each in parties if each.is_calling]
    if calling:
        return "" if any(each.is_name_withheld for each in calling) else calling[0].name
    return next(map(_display, values.get("from", [])), "")


def _display(entry: str) -> str:
    """Return the name before an address; empty without one."""
    name, opening, _ = entry.rpartition("<")
    name = name.strip()
    return _QUOTED_PAIR.sub(r"\1", name.removeprefix('"').removesuffix('"')) if opening else ""


def _is_withheld(values: dict[str, list[str]], parties: Sequence[_Party], caller: str) -> bool:
    tokens = {
        each.strip().lower()
        for text in values.get("privacy", [])
        for each in re.split(r"[;,]", text)
    }
    senders = values.get("from", [])
    is_other = bool(tokens) and tokens <= _OTHER_PRIVACY
    return (
        (any(e.startswith("prohib") for e in values.get("presentation", [])) and not is_other)
        or bool(tokens & WITHHELD)
        or any(each.is_withheld for each in parties if each.is_calling)
        or any(each.lower() in ANONYMOUS for each in (caller, *map(_user, senders)))
        or any(_ANONYMOUS_HOST.search(each) for each in senders)
    )


def _diversions(headers: Sequence[str]) -> tuple[Diversion, ...]:
    """Read Diversion (RFC 5806): the latest comes first."""
    found = [
        Diversion(
            number, _first(_REASON, entry).lower(), _first(_PRIVACY, entry) not in ("", "off")
        )
        for entry in _entries(headers)
        if (number := _user(entry))
    ]
    return tuple(reversed(found))


def _history(headers: Sequence[str], dialled: str) -> tuple[Diversion, ...]:
    """Read History-Info (RFC 7044): all targets by their index; the last is the present one.

    The cause is in the address of the next target, or in the Reason of the one that diverted.
    """
    entries = sorted(_entries(headers), key=_index)
    found = [
        Diversion(
            _user(entry),
            _REASONS.get(_first(_CAUSE, after) or _first(_OWN_CAUSE, unquote(entry)), ""),
            bool(set(_first(_PRIVACY, entry).lower().split(";")) & (WITHHELD | {"history"})),
        )
        for entry, after in pairwise(entries)
    ]
    # Proxies add targets, too: only another number is a diversion.
    numbers = [*(each.number for each in found), dialled]
    return tuple(
        each
        for each, after in zip(found, numbers[1:], strict=True)
        if each.number and each.number not in (after, dialled)
    )


def _entries(headers: Sequence[str]) -> Iterator[str]:
    for header in headers:
        yield from (each.strip() for each in _ENTRY.findall(header) if each.strip())


def _user(address: str) -> str:
    found = _USER.search(address)
    return strip_parameters(unquote(found[1])) if found else ""


def _index(entry: str) -> tuple[int, ...]:
    return tuple(int(each) for each in _first(_INDEX, _parameters(entry)).split(".") if each)


def _parameters(entry: str) -> str:
    """Return what follows an address, with the semicolon before it."""
    return ";" + entry.rpartition(">")[2].partition(";")[2]


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1] if found else ""


_SEPARATORS = re.compile(r"[ ().\-]")
_DIGITS = re.compile(r"\+?[0-9]{2,20}")


def strip_parameters(number: str) -> str:
    """Return the number of a user part or tel: URI, without parameters and separators."""
    if _DIGITS.fullmatch(number):
        return number
    without_scheme = number[4:] if number[:4].lower() == "tel:" else number
    bare = without_scheme.partition(";")[0].strip(" ")
    plain = _SEPARATORS.sub("", bare)
    return plain if _DIGITS.fullmatch(plain) else bare


KIND = "replaces"
_COUNT = 4  # of arguments; those after them are of a later version


def replacement_arguments(replaced: ReplacedLeg) -> str:
    """Return the arguments of Stasis()."""
    named = (replaced.leg, replaced.account, replaced.party)
    return ",".join((replaced.app, KIND, *(quote(each, safe="") for each in named)))


def read_replacement(channel: str, args: Sequence[str]) -> ReplacementArrived | None:
    """Read the arguments after the app; None when they are those of another channel."""
    if args[:1] != [KIND] or len(args) < _COUNT:
        return None
    replaced, account, party = map(unquote, args[1:_COUNT])
    return ReplacementArrived(channel, replaced, account, party)
