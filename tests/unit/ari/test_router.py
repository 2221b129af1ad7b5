"""The address of a PBX."""

from engine.ari.config import PbxAddress


def test_repr_hides_the_password() -> None:
    """An address can be logged."""
    assert "secret" not in repr(PbxAddress("pbx1", "http://h/ari", "u", "secret"))
