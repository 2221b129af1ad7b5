"""Signatures that the engine makes are verified by the Python SDK, and no others."""

import msgspec
import pytest
from switchroom_sdk import (
    ActionRequest,
    CallEvent,
    GatherResult,
    RecordResult,
    UnexpectedBody,
    VerificationFailed,
    Verifier,
    parse,
)
from switchroom_sdk.bodies import parse_as
from switchroom_sdk.errors import SwitchroomError

from engine.webhooks.signatures import Signer
from tests.harness.signing import SIGNING_SECRET
from wire import webhooks as sent
from wire.events import call_events
from wire.media import MediaFault

NOW_S = 1_795_262_400
OTHER = "whsec_" + "b3RoZXIgc2VjcmV0IG9mIGFub3RoZXI="
BODY = b'{"callId":"c1","dtmf":"1"}'
URL = "https://example.com/menu?attempt=1"


def verifier(*secrets: str, now_s: float = NOW_S) -> Verifier:
    return Verifier(secrets or SIGNING_SECRET, clock=lambda: now_s)


def test_the_engines_signature_is_verified() -> None:
    """The id of the request is returned; names of headers are read in any case."""
    headers = Signer(SIGNING_SECRET).headers("r1", NOW_S, BODY, URL)
    assert verifier().verify(BODY, headers, URL) == "r1"
    assert (
        verifier().verify(BODY, {name.upper(): each for name, each in headers.items()}, URL) == "r1"
    )


def test_either_secret_verifies_while_they_rotate() -> None:
    """Both sides may have two secrets; one in common is enough."""
    both = Signer(OTHER, SIGNING_SECRET).headers("r1", NOW_S, BODY, URL)
    assert verifier().verify(BODY, both, URL) == "r1"
    one = Signer(SIGNING_SECRET).headers("r1", NOW_S, BODY, URL)
    assert verifier(OTHER, SIGNING_SECRET).verify(BODY, one, URL) == "r1"


@pytest.mark.parametrize("age_s", [-299, 0, 299])
def test_a_clock_may_differ_by_five_minutes(age_s: int) -> None:
    """A request of the last five minutes, or of the next ones, is accepted."""
    headers = Signer(SIGNING_SECRET).headers("r1", NOW_S - age_s, BODY, URL)
    assert verifier().verify(BODY, headers, URL)


@pytest.mark.parametrize("age_s", [-301, 301, 86_400])
def test_an_old_request_is_rejected(age_s: int) -> None:
    """A request that somebody has recorded is worth nothing after five minutes."""
    headers = Signer(SIGNING_SECRET).headers("r1", NOW_S - age_s, BODY, URL)
    with pytest.raises(VerificationFailed, match="webhook-timestamp"):
        verifier().verify(BODY, headers, URL)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"webhook-id": "r2"}, "webhook-signature"),
        ({"webhook-id": "\udcff"}, "webhook-signature"),
        ({"webhook-timestamp": str(NOW_S + 1)}, "webhook-signature"),
        ({"webhook-timestamp": "١٧٩٥"}, "webhook-timestamp"),
        ({"webhook-timestamp": "now"}, "webhook-timestamp"),
        ({"webhook-timestamp": "9" * 5_000}, "webhook-timestamp"),
        ({"webhook-signature": "v1,AAAA"}, "webhook-signature"),
        ({"webhook-signature": "v1,not base64 at all"}, "webhook-signature"),
        ({"webhook-signature": "v1,é"}, "webhook-signature"),
        ({"webhook-signature": ""}, "webhook-signature"),
        ({"webhook-id": ""}, "webhook-id"),
        ({"webhook-url-sha256": ""}, "webhook-url-sha256"),
        ({"webhook-url-sha256": "0" * 64}, "webhook-url-sha256"),
    ],
)
def test_a_changed_header_is_rejected(change: dict[str, str], field: str) -> None:
    """Each header is part of what is signed, and all are required."""
    headers = Signer(SIGNING_SECRET).headers("r1", NOW_S, BODY, URL)
    with pytest.raises(VerificationFailed, match=f"^{field}"):
        verifier().verify(BODY, {**headers, **change}, URL)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/menu",
        "https://example.com/menu?attempt=2",
        "https://example.com/menu/?attempt=1",
        "https://EXAMPLE.com/Menu?attempt=1",
        "http://example.com/menu?attempt=1",
        "https://example.com:8443/menu?attempt=1",
        "https://example.com.evil.example/menu?attempt=1",
        "https://evil.example/https://example.com/menu?attempt=1",
    ],
)
def test_a_signature_is_of_one_address(url: str) -> None:
    """Also with the hash of the other address: it is part of what is signed."""
    headers = Signer(SIGNING_SECRET).headers("r1", NOW_S, BODY, URL)
    with pytest.raises(VerificationFailed, match=r"^webhook-url-sha256"):
        verifier().verify(BODY, headers, url)
    other = Signer(OTHER).headers("r1", NOW_S, BODY, url)
    forged = {**headers, "webhook-url-sha256": other["webhook-url-sha256"]}
    with pytest.raises(VerificationFailed, match=r"^webhook-signature"):
        verifier().verify(BODY, forged, url)


@pytest.mark.parametrize(
    ("sent", "stated"),
    [
        ("https://example.com", "https://example.com/"),
        ("https://example.com?a=1", "https://example.com/?a=1"),
        ("HTTPS://Example.COM:443/A?b=%2F#part", "https://example.com/A?b=%2F"),
        ("https://user:word@example.com/a", "https://example.com/a"),
        ("wss://bot.example:443/in", "WSS://bot.example/in"),
        ("http://[::1]:80/a b?c=å", "http://[::1]/a%20b?c=%C3%A5"),
        ("https://example.com/a%zz%2f?", "https://example.com/a%25zz%2f?"),
        ("grpcs://example.com:443", "grpcs://example.com:443/"),
    ],
)
def test_an_address_has_one_spelling(sent: str, stated: str) -> None:
    """The engine's and the SDK's are the same: that of the request line, at the server's origin."""
    headers = Signer(SIGNING_SECRET).headers("r1", NOW_S, BODY, sent)
    assert verifier().verify(BODY, headers, stated) == "r1"


def test_another_version_of_signatures_is_not_read() -> None:
    """A symmetric signature that claims to be asymmetric is none."""
    headers = Signer(SIGNING_SECRET).headers("r1", NOW_S, BODY, URL)
    changed = headers["webhook-signature"].replace("v1,", "v1a,")
    with pytest.raises(VerificationFailed):
        verifier().verify(BODY, {**headers, "webhook-signature": changed}, URL)


def test_another_body_or_secret_is_rejected() -> None:
    """The body is signed as it came; the secret of another account verifies nothing."""
    headers = Signer(SIGNING_SECRET).headers("r1", NOW_S, BODY, URL)
    with pytest.raises(VerificationFailed):
        verifier().verify(BODY + b" ", headers, URL)
    with pytest.raises(VerificationFailed):
        verifier(OTHER).verify(BODY, headers, URL)


@pytest.mark.parametrize("secret", ["whsec_", "whsec_no base64", "", ()])
def test_a_secret_that_is_none_is_rejected(secret: str) -> None:
    """An empty secret would verify what anybody can sign."""
    with pytest.raises(SwitchroomError, match="secret"):
        Verifier(secret)


def test_bodies_are_parsed_by_what_they_say() -> None:
    """Each body that the engine sends has its type, with the values that were sent."""
    fault = MediaFault("https://example.com/a.wav", "not_found")
    start = sent.ActionRequest("c1", "start", "+1", "+2", "inbound", "acme", "c1.l0")
    dialed = sent.ActionRequest(
        "c1", "dial", "+1", "+2", "inbound", "acme", "c1.l0", sent.DialResult("busy", cause=17)
    )
    failed_gather = sent.ActionRequest("c1", "gather", "+1", "+2", "inbound", "acme", "c1.l0")
    digits = sent.GatherResult("c1", "12", sent.GatherLeg("c1.l0"), "timeout", media_fault=fault)
    message = sent.RecordResult("c1", "c1.l0", "silence", "record", "file:///a.wav", "voicemail", 3)
    event = call_events.CallEvent(
        "c1.e0", "initiated", 0, 1, "c1", "acme", "initiated", "inbound", from_="+1", to="+2"
    )
    for body, kind in (
        (start, ActionRequest),
        (dialed, ActionRequest),
        (failed_gather, ActionRequest),
        (digits, GatherResult),
        (message, RecordResult),
        (event, CallEvent),
    ):
        encoded = msgspec.json.encode(body)
        found = parse(encoded)
        assert type(found) is kind
        assert msgspec.convert(msgspec.to_builtins(found), type(body)) == body


def test_later_versions_may_add_fields_and_words() -> None:
    """An unknown field is ignored, and an unknown reason is any text."""
    body = b'{"callId":"c1","dtmf":"","to":{"channelId":"x"},"reason":"new","added":{"a":1}}'
    assert parse_as(body, GatherResult).reason == "new"


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"\xff", b'{"callId":1}', b"{" * 100_000, b'{"a":' * 100_000, b"null"]
)
def test_anything_else_is_no_body(body: bytes) -> None:
    """A body that is none has an error that says so."""
    with pytest.raises(UnexpectedBody, match=r"^body: "):
        parse(body)


def test_another_body_than_expected_is_rejected() -> None:
    """A handler of digits gets no message."""
    body = b'{"callId":"c","channelId":"l","reason":"silence","event":"record"}'
    with pytest.raises(UnexpectedBody, match="GatherResult is expected, not RecordResult"):
        parse_as(body, GatherResult)
