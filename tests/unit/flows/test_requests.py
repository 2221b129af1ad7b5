"""An API request's faults are found when it is stored."""

from typing import Any

import pytest

from engine.flows.requests import check_request
from wire.decoding.errors import MAX_ERRORS, InputErrors
from wire.request import ApiRequest, kept_secrets
from wire.tree import Limits

URL = "https://crm.example/people?n={{ call.from }}"


def faults(**fields: Any) -> dict[str, str]:
    """Check a request; return its fault codes by path."""
    try:
        check_request({"url": URL, **fields}, Limits())
    except InputErrors as error:
        return {each.path: each.code for each in error.errors}
    return {}


def test_a_good_request() -> None:
    """Templates in every text, and secrets."""
    good = {
        "method": "POST",
        "headers": {"Authorization": "Bearer {{secrets.token}}"},
        "json": {"order": "{{custom.order}}", "event": "{{event.callId}}", "n": 3},
        "answers": {"tier": "/people/0/tier"},
        "secrets": {"token": "t"},
        "timeoutMs": 900,
    }
    assert faults(**good) == {}


@pytest.mark.parametrize(
    ("url", "is_kept"),
    [
        ("https://CRM.example/other", True),
        ("https://crm.example:443?n=1", True),
        ("https://crm.example:8443/people", False),
        ("https://crm.example.evil.example/", False),
        ("https://evil.example/?https://crm.example/", False),
        ("https://crm.example\\@evil.example/", False),
        ("https://crm.example@evil.example/", False),
        ("http://crm.example/people", False),
        ("http://crm.example:443/people", False),
        ("crm.example", False),
    ],
)
def test_secrets_are_kept_for_one_host_only(url: str, is_kept: bool) -> None:
    """Scheme, host and port stay the same; how an odd address is read plays no role."""
    stored = ApiRequest(URL, secrets={"token": "s"})
    assert kept_secrets(stored, url) == ({"token": "s"} if is_kept else {})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"url": 3, "method": "TRACE"}, {"url": "invalid", "method": "invalid"}),
        ({"url": "http://crm.example/"}, {"url": "insecure_url"}),
        ({"url": "https://{{contact.host}}/"}, {"url": "bad_url"}),
        ({"url": "https://crm.{{contact.host}}/"}, {"url": "bad_url"}),
        ({"url": "{{contact.url}}"}, {"url": "insecure_url"}),
        ({"url": "https://"}, {"url": "bad_url"}),
        ({"url": "https://me:pass@crm.example/"}, {"url": "bad_url"}),
        ({"url": "https://crm.example/a\u2028b"}, {"url": "bad_url"}),
        ({"url": "https://[::1/"}, {"url": "bad_url"}),
        ({"url": "https://crm.example:65536/"}, {"url": "bad_url"}),
        ({"headers": {"Host": "x"}}, {"headers.Host": "reserved"}),
        ({"headers": {"X": "a\r\nB: c"}}, {"headers.X": "invalid"}),
        ({"headers": {"A b": "c"}}, {"headers.A b": "invalid"}),
        ({"method": "POST", "json": {}, "text": "x"}, {"text": "invalid"}),
        ({"json": {}}, {"method": "invalid"}),
        ({"answers": {"status": "/s"}}, {"answers.status": "reserved"}),
        ({"answers": {"tier": "tier"}}, {"answers.tier": "invalid"}),
        ({"url": URL + "{{nothing}}"}, {"url": "unknown_variable"}),
        ({"headers": {"X": "{{secrets.none}}"}}, {"headers.X": "unknown_secret"}),
        ({"timeoutMs": 20_000}, {"timeoutMs": "invalid"}),
    ],
)
def test_faults(fields: dict[str, Any], expected: dict[str, str]) -> None:
    """Each fault has its field's path."""
    assert faults(**fields) == expected


def test_what_is_reported_is_limited() -> None:
    """A body full of unknown names had tens of thousands of faults, which an engine encoded."""
    assert len(faults(method="POST", json=["{{x}}"] * 25_000)) == MAX_ERRORS
