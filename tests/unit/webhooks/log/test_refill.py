"""Secrets are put back into a logged API request."""

from typing import Any

import pytest
from msgspec.structs import replace

from engine.webhooks.log.logged_attempt import LoggedAttempt, logged
from engine.webhooks.log.refill import NotRepeatable, refill, unsigned_headers
from tests.unit.webhooks.log.exchanges import attempt
from wire.request import ApiRequest

SECRET = 'a"\\/+é&'  # noqa: S105 - in JSON and in addresses it is written otherwise
DOCUMENT = ApiRequest(
    "https://a.example/?k={{secrets.k}}",
    headers={"X": "{{secrets.k}}", "Authorization": "Bearer {{secrets.k}}"},
    json={"k": "{{secrets.k}}"},
    secrets={"k": SECRET},
)


def logged_request(**more: Any) -> LoggedAttempt:
    """Return an attempt of the document as the log has it."""
    headers = {"X": "{{secrets.k}}", "Authorization": "***", "webhook-signature": "***"}
    found = logged(attempt(b'{"k":"{{secrets.k}}"}', headers=headers))
    return replace(found, url="https://a.example/?k=%7B%7Bsecrets.k%7D%7D", **more)


def test_each_part_has_the_secret_in_its_own_form() -> None:
    """Escaped in JSON and in the address, plain in headers; signatures are left out."""
    found = refill(logged_request(), DOCUMENT)
    assert found.url == "https://a.example/?k=a%22%5C%2F%2B%C3%A9%26"
    assert found.body == '{"k":"a\\"\\\\/+é&"}'.encode()
    assert found.headers == {"X": SECRET, "Authorization": f"Bearer {SECRET}"}


def test_a_text_has_the_secret_as_it_is() -> None:
    """A body that is no JSON escapes nothing."""
    text = replace(DOCUMENT, json=None, text="{{secrets.k}}")
    found = refill(replace(logged_request(), body=b"{{secrets.k}}"), text)
    assert found.body == SECRET.encode()


@pytest.mark.parametrize(
    "document",
    [
        replace(DOCUMENT, secrets={}),
        replace(DOCUMENT, secrets={"k": None}),
        replace(DOCUMENT, headers={}),
        replace(DOCUMENT, headers={"Authorization": "{{call.from}}"}),
    ],
)
def test_a_document_that_has_changed(document: ApiRequest) -> None:
    """What it does not have any more, or what depends on the call, cannot be filled in."""
    with pytest.raises(NotRepeatable):
        refill(logged_request(), document)


def test_headers_of_one_attempt() -> None:
    """Each attempt has its own signature, time and trace."""
    own = {"webhook-id": "1", "webhook-timestamp": "2", "Traceparent": "3"}
    found = logged(attempt(headers={**own, "Accept": "a"}))
    assert unsigned_headers(found) == {"Accept": "a"}
