"""Stored attempts: small, readable again, and readable for ever."""

from hashlib import sha256

import pytest

from engine.webhooks.log.logged_attempt import DICTIONARIES, compress, decompress, logged
from tests.unit.webhooks.log.exchanges import Reply, attempt

RELEASED = {"dictionary-1.bin": "c788476070de1c373bfb5149685d6e91698bc54400153bc4124cd37a32dc423b"}
EVENT = (
    b'{"id":"3-pbx1-01kaz3m1x9aaaaaa.e1","event":"answered","sequenceNumber":1,"timestamp":'
    b'1795262400000,"callId":"3-pbx1-01kaz3m1x9aaaaaa","accountId":"acme","callStatus":'
    b'"in-progress","direction":"inbound","from":"+4799999999","to":"+4721930000","version":1}'
)


def test_an_attempt_is_read_as_it_was() -> None:
    """With all of its fields."""
    given = logged(attempt(EVENT, b"\x00\xff", reply=Reply(500, Server="x"), reason="status_500"))
    assert decompress(compress(given)) == given


def test_an_attempt_is_small() -> None:
    """A usual callback takes a fraction of its event."""
    assert len(compress(logged(attempt(EVENT, reply=Reply(200))))) < len(EVENT) / 2


@pytest.mark.parametrize("stored", [b"", b"\x02later", b"\x01not deflated", b"\x01"])
def test_what_this_version_cannot_read(stored: bytes) -> None:
    """It is left out."""
    assert decompress(stored) is None


def test_dictionaries_never_change() -> None:
    """What was compressed with a released one must stay readable."""
    found = {
        each.name: sha256(each.read_bytes()).hexdigest() for each in DICTIONARIES.glob("*.bin")
    }
    assert found == RELEASED
