"""Membership: the heartbeats of engines, and fair shares."""

import msgspec

from engine.runtime.cluster.membership import Membership, Peer
from engine.store.compressed_call import DICTIONARY


def heartbeat(url: str, slots: tuple[int, ...] = (), **calls: int) -> str:
    """Encode an engine's heartbeat."""
    return msgspec.json.encode(Peer(url, slots, calls)).decode()


def test_the_owner_of_a_slot() -> None:
    """Finds the other engine with a slot, or with any slot for None."""
    peers = Membership("a")
    peers.update(
        {"a": heartbeat("here", (0,)), "b": heartbeat("there", (1,)), "c": heartbeat("idle")}
    )
    assert peers.url_of(1) == "there"
    assert peers.url_of(None) == "there"
    assert peers.url_of(0) is None
    assert peers.url_of(2) is None


def test_calls_of_others() -> None:
    """Sums up the calls of other engines on a node."""
    peers = Membership("a")
    peers.update(
        {
            "a": heartbeat("a", pbx1=9),
            "b": heartbeat("b", pbx1=2),
            "c": heartbeat("c", pbx1=1, pbx2=5),
        }
    )
    assert (peers.calls("pbx1"), peers.calls("pbx2"), peers.calls("pbx3")) == (3, 5, 0)


def test_shares() -> None:
    """Shares add up to all slots, and differ by one at most."""
    names = ("a", "b", "c")
    alive = {name: heartbeat(name) for name in names}
    shares = []
    for name in names:
        peers = Membership(name)
        peers.update(alive)
        shares.append(peers.fair_share(8))
    assert sorted(shares) == [2, 3, 3]


def test_who_has_room_for_a_slot() -> None:
    """Another engine with less than the highest fair share that reads this engine's calls."""
    peers = Membership("a", stored_format=2)
    for slots, stored_format, has_room in (
        ((), 2, True),
        ((0, 1, 2), 2, True),
        ((0, 1, 2, 3), 2, False),
        ((), 1, False),
        ((), 3, True),
    ):
        other = msgspec.json.encode(Peer("b", slots, format=stored_format)).decode()
        peers.update({"a": heartbeat("a"), "b": other})
        assert peers.has_taker(7) == has_room, (slots, stored_format)


def test_alone() -> None:
    """Before the first update all slots are this engine's."""
    assert Membership("a").fair_share(8) == 8


def test_a_missing_engine() -> None:
    """An update returns whether an engine is missing."""
    peers = Membership("a")
    assert not peers.update({"a": heartbeat("a"), "b": heartbeat("b")})
    assert not peers.update({"a": heartbeat("a"), "b": heartbeat("b"), "c": heartbeat("c")})
    assert peers.update({"a": heartbeat("a"), "c": heartbeat("c")})


def test_an_invalid_heartbeat() -> None:
    """It is ignored."""
    peers = Membership("a")
    peers.update({"a": heartbeat("a"), "b": "what?"})
    assert peers.peers == []


def test_the_dictionary_of_compressed_calls() -> None:
    """It is the newest that every other engine has; none while one is of an earlier version."""
    peers = Membership("a")
    assert peers.dictionary == DICTIONARY
    others = {
        name: msgspec.json.encode(Peer("", dictionary=number)).decode()
        for name, number in {"b": 2, "c": 3}.items()
    }
    peers.update({"a": heartbeat("a"), **others})
    assert peers.dictionary == 2
    peers.update({"a": heartbeat("a"), **others, "d": heartbeat("d")})
    assert peers.dictionary == 0
