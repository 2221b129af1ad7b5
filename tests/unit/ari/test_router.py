"""Requests reach the PBX by the right way, and each is answered exactly once."""

from engine.ari.config import PbxAddress


def test_the_password_is_not_shown() -> None:
    """An address can be logged."""
    assert "secret" not in repr(PbxAddress("pbx1", "http://h/ari", "u", "secret"))
