"""The page of callbacks says how signatures are verified: by an example and a program."""

import re
import time

import pytest
from standardwebhooks import WebhookVerificationError
from switchroom_sdk import Verifier

from engine.webhooks.signatures import Signer
from tests.harness.page_blocks import DOCS, page_blocks
from tests.harness.signing import SIGNING_SECRET

PAGE = DOCS / "callbacks.md"
URL = "https://example.com/menu?attempt=1"


def test_the_example_is_what_engines_send() -> None:
    """Key, time, address and body of the table make the hash and the signature in it."""
    table = PAGE.read_text().partition("| an example | |")[2]
    row = dict(re.findall(r"^\| `?([a-z0-9-]+)`? \| `(.+)` \|$", table, re.MULTILINE))
    id_, at_s, body = row["webhook-id"], int(row["webhook-timestamp"]), row["body"].encode()
    headers = Signer(row["secret"]).headers(id_, at_s, body, row["address"])
    assert headers == {name: row[name] for name in headers}
    verifier = Verifier(row["secret"], clock=lambda: at_s)
    assert verifier.verify(body, headers, row["address"]) == id_


def test_the_program_verifies_one_address() -> None:
    """A library of the standard is enough; another address, or a missing header, is rejected."""
    program = page_blocks(PAGE, "python")[0].text
    names: dict[str, object] = {"SECRET": SIGNING_SECRET}
    exec(compile(program, PAGE.name, "exec"), names)  # noqa: S102 - our own page
    verified = names["verified"]
    assert callable(verified)
    body = b'{"callId":"c1"}'
    headers = Signer(SIGNING_SECRET).headers("c1.r0", time.time(), body, URL)
    assert verified(URL, headers, body) == {"callId": "c1"}
    for url, given in (("https://example.com/menu", headers), (URL, {})):
        with pytest.raises(WebhookVerificationError):
            verified(url, given, body)
