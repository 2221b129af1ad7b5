"""STIR/SHAKEN (RFC 8225): the trunk's calls have an Identity, signed for the number they show."""

import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.harness.live_lab import Lab, open_lab
from tests.harness.phones.phone import Phone

OURS, OTHER, CALLED = "+15550001", "+15550002", "+15550100"
CERTIFICATE = "https://certificates.example.com/cert.pem"


@pytest.fixture
async def signing(tmp_path: Path) -> AsyncIterator[Lab]:
    key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path = tmp_path / "key.pem"
    path.write_bytes(key)
    settings = {"STIR_KEY": str(path), "STIR_CERT_URL": CERTIFICATE, "STIR_NUMBERS": OURS}
    async with open_lab(tmp_path / "lab", settings=settings) as lab:
        yield lab


async def test_a_call_that_shows_a_number_of_ours(signing: Lab) -> None:
    """Level A, from our number to the called one; any other number is not signed."""
    identity = await called_identity(signing, OURS)
    header, payload, signature = identity.partition(";")[0].split(".")
    claims = {**decoded(header), **decoded(payload)}
    assert (claims["alg"], claims["ppt"], claims["x5u"]) == ("ES256", "shaken", CERTIFICATE)
    assert (claims["attest"], claims["orig"]["tn"]) == ("A", OURS[1:])
    assert claims["dest"]["tn"] == [CALLED[1:]]
    assert signature
    assert await called_identity(signing, OTHER) == ""


async def called_identity(lab: Lab, shown: str) -> str:
    """Call a number over the trunk; return the Identity that it gets."""
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to=CALLED, **{"from": shown})
        await phone.wait_answered()
        (invite,) = [each for each in phone.messages if each.method == "INVITE"][:1]
        await phone.hang_up()
    await lab.wait_ended(call)
    return invite.header("Identity")


def decoded(part: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return found
