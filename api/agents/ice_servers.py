"""The STUN and TURN servers of a phone, with credentials that expire."""

import base64
import hmac
from collections.abc import Sequence

from msgspec import UNSET, Struct, UnsetType


class IceServer(Struct, frozen=True):
    """Servers as `RTCPeerConnection` takes them."""

    urls: tuple[str, ...]
    username: str | UnsetType = UNSET
    credential: str | UnsetType = UNSET


def ice_servers(
    urls: Sequence[str], secret: str, name: str, expires_ms: int
) -> tuple[IceServer, ...]:
    """Return the servers; those of TURN share a secret, and compute the same password of a name."""
    stun = tuple(url for url in urls if url.startswith("stun"))
    turn = tuple(url for url in urls if not url.startswith("stun"))
    servers = [IceServer(stun)] if stun else []
    if turn and secret:
        username = f"{expires_ms // 1_000}:{name}"
        digest = hmac.digest(secret.encode(), username.encode(), "sha1")
        servers.append(IceServer(turn, username, base64.b64encode(digest).decode()))
    elif turn:
        servers.append(IceServer(turn))
    return tuple(servers)
