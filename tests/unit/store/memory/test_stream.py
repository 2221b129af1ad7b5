"""The entries of one shard's event stream in memory."""

from tests.harness.memory_store.stream import ShardStream


def test_the_body_of_a_removed_entry() -> None:
    """It is unknown, whether older or newer entries are left, or none."""
    stream = ShardStream()
    stream.ids, stream.bodies = [(1, 0), (2, 0), (3, 0)], [b"first", b"second", b"third"]
    assert stream.body((2, 0)) == b"second"
    assert stream.body((2, 1)) is None
    stream.trim(1)
    assert stream.body((1, 0)) is None
    stream.trim(2)
    assert stream.body((3, 0)) is None
