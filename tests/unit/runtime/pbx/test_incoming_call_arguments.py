"""What the dialplan passes about an incoming call: privacy and diversions."""

from urllib.parse import quote

import pytest

from engine.runtime.pbx.incoming_call_arguments import (
    MAX_DIVERSIONS,
    MAX_HEADER_LENGTH,
    CallerIdentity,
    IncomingArguments,
    read_arguments,
    read_identity,
)
from wire.party import Diversion


def passed(**headers: str) -> list[str]:
    """Return the arguments of a call to +47 2193 0000, with percent-encoded headers."""
    return ["+4721930000", *(f"{name}={quote(text, safe='')}" for name, text in headers.items())]


def test_a_call_without_headers() -> None:
    """All arguments but the number may be empty; then nothing else is known."""
    args = [*passed(presentation="", privacy=""), "from=", "asserted=", "rpid=", "no-sdp="]
    assert read_arguments(args) == IncomingArguments("+4721930000")
    assert read_identity(args, "+4799") == CallerIdentity("trunk", "+4799")
    assert read_arguments([]) == IncomingArguments()
    assert read_identity([], "") == CallerIdentity("trunk")


def test_a_caller_that_another_engine_has_passed_on() -> None:
    """The dialplan says so; otherwise the argument is empty."""
    assert read_arguments([*passed(), "passed-on=yes"]).is_passed_on
    assert not read_arguments([*passed(), "passed-on="]).is_passed_on


@pytest.mark.parametrize(
    ("dialled", "number"),
    [
        ("+4721930000;npdi=yes;rn=+4799", "+4721930000"),
        ("tel:+47-2193-0000;phone-context=example.com", "+4721930000"),
        ("+47 (21) 93.00.00", "+4721930000"),
        ("sales", "sales"),
        ("*21#", "*21#"),
        ("sales.oslo", "sales.oslo"),
    ],
)
def test_parameters_and_separators_are_removed(dialled: str, number: str) -> None:
    """Names keep their separators."""
    assert read_arguments([dialled]).dialled == number


@pytest.mark.parametrize(
    "headers",
    [
        {"presentation": "prohib_not_screened"},
        {"privacy": "id"},
        {"privacy": "user; ID"},
        {"privacy": "header;critical"},
        {"from": '"Anonymous" <sip:anonymous@anonymous.invalid>;tag=1'},
        {"from": "<sip:Restricted@example.com>"},
        {"from": "<sip:+4799@anonymous.invalid>;tag=1"},
        {"rpid": "<sip:+4799@a>;party=calling;screen=no;privacy=full"},
        {"rpid": "<sip:+4799@a>;privacy=URI", "privacy": "history"},
        {"rpid": '<sip:+4799@a> ; party="calling" ; privacy = "full"'},
        {"rpid": "<sip:+4799@a>;privacy=name-uri;screen=no"},
        {"rpid": '"A, B" <sip:+4799@a>;privacy="name;uri"'},
        {"rpid": "<sip:+4799@a>;privacy=name;uri"},
        {"rpid": "sip:+4799@a;privacy=name,uri;party=calling"},
        {"rpid": "<sip:+4799@a>;privacy=name;privacy=uri-network"},
        {"rpid": "<sip:+4721@a>;party=called;privacy=off, <sip:+4799@a>;privacy=full"},
        {"presentation": "prohib", "privacy": "history", "rpid": "<sip:+4799@a>;privacy=full"},
        {"presentation": "prohib", "privacy": "history;x-unknown"},
    ],
)
def test_a_number_is_withheld(headers: dict[str, str]) -> None:
    """By its presentation, by Privacy (RFC 3323), Remote-Party-ID, or an anonymous From."""
    assert read_identity(passed(**headers), "+4799").is_withheld


@pytest.mark.parametrize(
    "headers",
    [
        {"presentation": "allowed_not_screened", "privacy": ""},
        {"presentation": "unavailable"},
        {"privacy": "none"},
        {"privacy": "session"},
        {"from": '"anonymous" <sip:+4799@example.com>;tag=anonymous'},
        {"presentation": "prohib_not_screened", "privacy": "History"},
        {"rpid": "<sip:+4799@a>;party=calling;privacy=off"},
        {"rpid": "<sip:+4799@a>;privacy=name;screen=full"},
        {"rpid": '"privacy=full" <sip:full@a;privacy=full>'},
        {"rpid": "<sip:+4721@a>;party=called;privacy=full, <sip:+4799@a>;privacy=off"},
        {"rpid": "privacy=full"},
    ],
)
def test_a_number_is_not_withheld(headers: dict[str, str]) -> None:
    """A display name is not a request for privacy."""
    assert not read_identity(passed(**headers), "+4799").is_withheld


def test_any_of_several_headers_withholds() -> None:
    """Asterisk reads the first of each only."""
    off, full = quote("<sip:+4799@a>;privacy=off"), quote("<sip:+4799@a>;privacy=full")
    assert read_identity(["100", f"rpid={off}", f"rpid={full}"], "+4799").is_withheld
    privacy = ["presentation=prohib", "privacy=history", "privacy=id"]
    assert read_identity(["100", *privacy], "+4799").is_withheld


@pytest.mark.parametrize(
    ("rpid", "caller"),
    [
        ([], "+4721"),
        (["<sip:+4721@a>;party=calling"], "+4721"),
        (["<sip:+4721@a>;party=called"], "+4788"),
        (["<sip:+4721@a>;party=called", "<sip:+4799@a>;party=calling"], "+4799"),
        (["<sip:+4721@a>;party=called, <sip:+4799@a>"], "+4799"),
        (["<sip:+4730@a>;party=called", "<sip:+4799@a>;party=calling"], "+4721"),
    ],
)
def test_the_called_party_is_not_the_caller(rpid: list[str], caller: str) -> None:
    """Asterisk takes the number of the first Remote-Party-ID, unless the carrier asserts one."""
    args = [*passed(**{"from": "<sip:+4788@a>"}), *(f"rpid={quote(each)}" for each in rpid)]
    assert read_identity(args, "+4721").number == caller


@pytest.mark.parametrize(
    ("headers", "number"),
    [
        (["<sip:+4790000001@a>"], "+4790000001"),
        (["<sip:+4790000001@a>, <tel:+4790000001>"], "+4790000001"),
        (['"Eva, A" <sip:eva@a>, <tel:+47-90-00-00-01>'], "+4790000001"),
        (["<tel:+4790000001>,<sip:+4790000002@a;user=phone>"], "+4790000001"),
        (['"A" <sip:alice@a>', "<tel:+4790000001>"], "+4790000001"),
        (["sip:90000001@a"], "90000001"),
        (["<sip:eva@a>"], ""),
        (["anonymous"], ""),
        ([""], ""),
        ([], ""),
    ],
)
def test_an_asserted_number(headers: list[str], number: str) -> None:
    """Either address may have it (RFC 3325), of one header line or of two."""
    args = ["100", *(f"asserted={quote(each, safe='')}" for each in headers)]
    assert read_identity(args, "+4799").number == (number or "+4799")


def test_an_anonymous_caller_is_withheld() -> None:
    """A carrier may replace the number itself."""
    assert read_identity(["100"], "anonymous").is_withheld


def test_a_dialled_number_cannot_undo_privacy() -> None:
    """A comma in what was dialled adds arguments, but the dialplan's own still apply."""
    args = ["100", "presentation=allowed", "privacy=", "presentation=prohib", "privacy=id"]
    assert read_identity(args, "+4799").is_withheld


def test_diversion() -> None:
    """Several headers and several entries of one header; the number called first comes first."""
    latest = passed(diversion='"Eve, <A>" <sip:+4733333333@a>;reason=no-answer, <tel:+4722222222>')
    first = passed(diversion='<sip:+47-1111-1111@a>;reason="User-Busy";privacy=full')
    args = [*latest, *first[1:], "diversion="]
    assert read_identity(args, "").diversion == (
        Diversion("+4711111111", "user-busy", privacy=True),
        Diversion("+4722222222"),
        Diversion("+4733333333", "no-answer"),
    )


def test_history_info() -> None:
    """Causes are in the next target (RFC 7544) or in the Reason of the diverted one (RFC 4244)."""
    history = (
        "<sip:+4722222222@a;cause=302?Privacy=history>;index=1.1;mp=1,"
        "<sip:+4711111111@a>;index=1, <sip:+4733333333@a?Reason=SIP%3Bcause%3D486>;index=1.2,"
        "<sip:+4721930000@b>;index=1.10"
    )
    assert read_identity(passed(history=history), "").diversion == (
        Diversion("+4711111111", "unconditional"),
        Diversion("+4722222222", privacy=True),
        Diversion("+4733333333", "user-busy"),
    )


def test_history_without_diversion() -> None:
    """A proxy that only passes the call on adds the same number again: no diversion."""
    history = "<sip:+4721930000@a>;index=1, <sip:+4721930000@b;user=phone>;index=1.1;rc=1"
    assert read_identity(passed(history=history), "").diversion == ()


@pytest.mark.parametrize("text", ['"', "<sip:", "a,b,<>", "<sip:@>;index=1..1", "\x00" * 50, ",,,"])
def test_malformed_headers_are_ignored(text: str) -> None:
    """Callers choose what they send."""
    for name in ("diversion", "history", "rpid"):
        read = read_identity(passed(**{name: text}), "+4799")
        assert (read.diversion, read.number, read.is_withheld) == ((), "+4799", False)


def test_the_number_of_diversions_is_limited() -> None:
    """They are part of every event of the call."""
    header = ",".join(f"<sip:+47{number}@a>" for number in range(1_000, 1_100))
    assert len(read_identity(passed(diversion=header), "").diversion) == MAX_DIVERSIONS


ASSERTED = '"Pai N" <sip:+4790000002@h>, <tel:+4790000002>'
SENT = '"From N" <sip:+4790000001@h>;tag=1'


@pytest.mark.parametrize(
    ("headers", "name"),
    [
        ({"from": SENT}, "From N"),
        ({"from": "Anna <sip:+4790000001@h>"}, "Anna"),
        ({"from": r'"Bo \"The Man\" A\\B <x>" <sip:1@h>'}, r'Bo "The Man" A\B <x>'),
        ({"from": "<sip:+4790000001@h>"}, ""),
        ({"from": "sip:+4790000001@h"}, ""),
        ({"from": SENT, "asserted": ASSERTED}, "Pai N"),
        ({"from": SENT, "asserted": '<tel:+4790000002>, "Pai N" <sip:+4790000002@h>'}, "Pai N"),
        ({"from": SENT, "asserted": "<sip:+4790000002@h>"}, ""),
        ({"from": SENT, "rpid": '"R N" <sip:+4790000001@h>;party=calling'}, "R N"),
        ({"from": SENT, "rpid": '"R N" <sip:+4790000001@h>;privacy=name'}, ""),
        ({"from": SENT, "rpid": '"C N" <sip:+4721930000@h>;party=called'}, "From N"),
    ],
)
def test_the_name_belongs_to_the_number(headers: dict[str, str], name: str) -> None:
    """It is of the header that has the caller's number, unless it is withheld there."""
    assert read_identity(passed(**headers), "+4790000001").name == name


def test_the_name_of_the_caller_beside_a_called_party() -> None:
    """Asterisk takes the first party's, whichever it is."""
    called = passed(rpid='"Called N" <sip:+4721930000@h>;party=called')
    calling = passed(rpid='"R N" <sip:+4790000001@h>;party=calling')[1:]
    assert read_identity([*called, *calling], "+4721930000").name == "R N"


@pytest.mark.parametrize(("argument", "is_late"), [("no-sdp=yes", True), ("no-sdp=", False)])
def test_an_invite_without_sdp(argument: str, is_late: bool) -> None:
    """Its caller is answered before its media has an address."""
    assert read_arguments(["1000", argument]).is_late_offer is is_late


def test_only_the_beginning_of_a_long_header_is_read() -> None:
    """Callers choose how much they send."""
    entry = ",<sip:+4711111111@a>"
    short = passed(diversion="x" * (MAX_HEADER_LENGTH - len(entry)) + entry)
    assert read_identity(short, "").diversion == (Diversion("+4711111111"),)
    assert read_identity(passed(diversion="x" * MAX_HEADER_LENGTH + entry), "").diversion == ()
    encoded = ["100", f"diversion={'%78' * MAX_HEADER_LENGTH}{quote(entry)}"]
    assert read_identity(encoded, "").diversion == ()
