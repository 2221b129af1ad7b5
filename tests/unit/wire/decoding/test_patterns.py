"""Input patterns: no value can inject a dial string, a SIP header or a request line."""

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from wire.base import CallerId, Language, Name, Number, Url
from wire.decoding import patterns
from wire.rpc import Originate

GOOD: list[tuple[Any, str]] = [
    (Number, "+4721930000"),
    (Number, "*21#"),
    (Number, "sip:bob@example.com:5060"),
    (Number, "sips:bob@example.com"),
    (Name, "agent_7-b"),
    (CallerId, "4721930000"),
    (Language, "hi-IN"),
    (Url, "https://example.com"),
    (Url, "https://example.com:8443/a?b=c#d"),
    (Url, "https://[::1]/a"),
]
BAD: list[tuple[Any, str]] = [
    (Number, "+"),
    (Number, "1"),
    (Number, "+47 21930000"),
    (Number, "1001@evil"),
    (Number, "1001&PJSIP/1002"),
    (Number, "1001/1002"),
    (Number, "٣٣٣٣"),
    (Number, "\uff11\uff12\uff13\uff14"),
    (Number, "sip:bob@host;transport=tcp"),
    (Number, "sip:bob@host?X-Evil=1"),
    (Number, "sip:bob@a@b"),
    (Number, "sip:bob,x@host"),
    (Number, "agent:1001"),
    (Name, ""),
    (Name, "a/b"),
    (Name, "a" * 65),
    (Name, "é"),
    (CallerId, '"Bob" <1001>'),
    (CallerId, "*21"),
    (Language, "english please"),
    (Url, "ftp://example.com/a"),
    (Url, "//example.com/a"),
    (Url, "https://"),
    (Url, "https:///a"),
    (Url, "https://user@example.com/"),
    (Url, "https://user:secret@example.com/"),
    (Url, "https://example.com\\@evil.com/"),
    (Url, "https://example.com/a b"),
    (Url, "https://example.com/\r\nX-Evil: 1"),
    (Url, "https://example.com/\x00"),
    (Url, "https://exa\x7fmple.com/"),
    (Url, "https://example.com/" + "a" * 2048),
    (Url, "https://a..b/"),
    (Url, "https://" + "a" * 64 + ".com/"),
    (Url, "https://①②⑦.0.0.1/"),
    (Url, "https://localhost%00.example.com/"),
    (Url, "https://example.com:/"),
]
ENDINGS = ["\n", "\r\n", "\r", "\x00", " ", "\u2028", "\x85"]


@pytest.mark.parametrize(("kind", "text"), GOOD)
def test_what_is_meant_is_let_through(kind: Any, text: str) -> None:
    """Numbers, names, caller ids, languages and addresses of the usual forms are accepted."""
    assert msgspec.convert(text, kind) == text


@pytest.mark.parametrize(("kind", "text"), BAD)
def test_what_could_do_harm_is_refused(kind: Any, text: str) -> None:
    """No separators of dial strings, no header or URI parameters, no userinfo, no odd digits."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(text, kind)


@pytest.mark.parametrize(("kind", "text"), GOOD)
@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_follows_the_end(kind: Any, text: str, ending: str) -> None:
    """A trailing line feed is rejected, too: `$` alone would accept it."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(text + ending, kind)


@pytest.mark.parametrize("pattern", patterns.PATTERNS)
def test_every_pattern_is_anchored(pattern: str) -> None:
    """Patterns are searched for, so each begins with ^ and ends with END."""
    assert pattern.startswith("^")
    assert pattern.endswith(patterns.END)


@given(some.text(max_size=40))
def test_a_party_has_no_control_characters(text: str) -> None:
    """Whatever matches a party is printable ASCII without blanks, quotes or list separators."""
    if re.search(patterns.PARTY, text):
        assert text.isascii()
        assert text.isprintable()
        assert not set(text) & set(" \"'<>&;,/\\?=%")


@given(some.from_regex(patterns.NUMBER, alphabet=some.characters(codec="ascii")))
def test_a_number_is_good_for_an_originate(number: str) -> None:
    """A party is a number, an agent or a sip: address: each number is a party."""
    body = msgspec.json.encode({"account": "acme", "from": number, "to": number})
    assert msgspec.json.decode(body, type=Originate).to == number
