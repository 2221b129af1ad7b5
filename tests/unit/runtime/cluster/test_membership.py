"""What engines say of themselves."""

import msgspec

from engine.runtime.cluster.membership import Membership, Peer


def said(url: str, slots: tuple[int, ...] = (), **calls: int) -> str:
    """Write what an engine says of itself."""
    return msgspec.json.encode(Peer(url, slots, calls)).decode()


def test_whose_a_slot_is() -> None:
    """A slot's engine is found by it, any engine that has one by None; never this one."""
    peers = Membership("a")
    peers.update({"a": said("here", (0,)), "b": said("there", (1,)), "c": said("idle")})
    assert peers.url_of(1) == "there"
    assert peers.url_of(None) == "there"
    assert peers.url_of(0) is None
    assert peers.url_of(2) is None


def test_calls_of_others() -> None:
    """The calls of all others on a node are summed up."""
    peers = Membership("a")
    peers.update({"a": said("a", pbx1=9), "b": said("b", pbx1=2), "c": said("c", pbx1=1, pbx2=5)})
    assert (peers.calls("pbx1"), peers.calls("pbx2"), peers.calls("pbx3")) == (3, 5, 0)


def test_shares() -> None:
    """All shares together are all slots, and differ by one at most."""
    names = ("a", "b", "c")
    alive = {name: said(name) for name in names}
    shares = []
    for name in names:
        peers = Membership(name)
        peers.update(alive)
        shares.append(peers.fair_share(8))
    assert sorted(shares) == [2, 3, 3]


def test_alone() -> None:
    """Before anything is told, all slots are this engine's."""
    assert Membership("a").fair_share(8) == 8


def test_one_that_is_missing() -> None:
    """It is told when an engine that lived is gone, and when none is."""
    peers = Membership("a")
    assert not peers.update({"a": said("a"), "b": said("b")})
    assert not peers.update({"a": said("a"), "b": said("b"), "c": said("c")})
    assert peers.update({"a": said("a"), "c": said("c")})


def test_one_that_cant_be_understood() -> None:
    """It counts for nothing, and does no harm."""
    peers = Membership("a")
    peers.update({"a": said("a"), "b": "what?"})
    assert peers.peers == []
