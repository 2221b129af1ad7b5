"""STUN and TURN servers of a phone."""

import base64
import hmac

from msgspec import UNSET

from api.agents.ice_servers import IceServer, ice_servers

STUN, TURN, TURNS = "stun:stun.example.com", "turn:turn.example.com", "turns:turn.example.com"
EXPIRES_MS = 1_800_000_000_999


def test_without_servers() -> None:
    """A browser uses its own addresses."""
    assert ice_servers((), "secret", "ada", EXPIRES_MS) == ()


def test_turn_has_credentials_that_expire() -> None:
    """As coturn computes them with `use-auth-secret`; STUN has none."""
    found = ice_servers((TURN, STUN, TURNS), "secret", "ada", EXPIRES_MS)
    username = "1800000000:ada"
    digest = hmac.digest(b"secret", username.encode(), "sha1")
    assert found == (
        IceServer((STUN,)),
        IceServer((TURN, TURNS), username, base64.b64encode(digest).decode()),
    )


def test_turn_without_a_secret() -> None:
    """A server that asks for no credentials."""
    assert ice_servers((TURN,), "", "ada", EXPIRES_MS) == (IceServer((TURN,), UNSET, UNSET),)
