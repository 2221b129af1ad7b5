"""Who has a share of the slots when engines miss nodes that others hear."""

from collections.abc import Mapping

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from engine.runtime.cluster.membership import Membership, Peer, eligible_engines

NODES = ("pbx1", "pbx2", "pbx3")


@st.composite
def _peer(draw: st.DrawFn) -> Peer:
    of_each = [draw(st.sampled_from(("hears", "deaf", "neither"))) for _ in NODES]
    by = {
        what: tuple(n for n, e in zip(NODES, of_each, strict=True) if e == what) for what in of_each
    }
    return Peer(
        "http://x", reachable=by.get("reachable", ()), unreachable=by.get("unreachable", ())
    )


ENGINES = st.dictionaries(st.sampled_from("abcde"), _peer(), min_size=1)


def seen_by(name: str, peers: Mapping[str, Peer]) -> Membership:
    """Give what an engine knows of all."""
    known = Membership(name)
    known.update({each: msgspec.json.encode(peer).decode() for each, peer in peers.items()})
    return known


def missed(peer: Peer, peers: Mapping[str, Peer]) -> int:
    """Count the nodes that an engine misses and another hears."""
    return sum(any(node in each.reachable for each in peers.values()) for node in peer.unreachable)


@given(ENGINES, st.integers(1, 64))
def test_every_slot_is_somebodys(peers: Mapping[str, Peer], slots: int) -> None:
    """The shares make up all slots, whatever is missed, and each engine comes to the same."""
    known = {name: seen_by(name, peers) for name in peers}
    shares = {name: each.fair_share(slots) for name, each in known.items()}
    assert sum(shares.values()) == slots
    counts = [shares[name] for name in eligible_engines(peers)]
    assert max(counts) - min(counts) <= 1
    assert {each.engine_count for each in known.values()} == {len(counts)}


@given(ENGINES)
def test_who_stands_back_has_a_reason(peers: Mapping[str, Peer]) -> None:
    """An engine without a share misses more than those that have one, and says what."""
    sharers = eligible_engines(peers)
    fewest = {missed(peers[name], peers) for name in sharers}
    assert len(fewest) == 1
    for name, peer in peers.items():
        reason = seen_by(name, peers).unreachable_nodes
        assert (name in sharers) == (not reason)
        if reason:
            assert missed(peer, peers) > min(fewest)
            assert reason <= set(peer.unreachable)


@given(st.dictionaries(st.sampled_from("abc"), st.sets(st.sampled_from(NODES)), min_size=1))
def test_a_dead_node_is_nobodys_fault(deaf: Mapping[str, set[str]]) -> None:
    """While nobody hears what is missed, everybody has a share."""
    peers = {name: Peer("", unreachable=tuple(missing)) for name, missing in deaf.items()}
    assert eligible_engines(peers) == sorted(peers)


def test_a_node_that_one_engine_alone_knows() -> None:
    """Who was not told of a node (its settings are the old ones) does not miss it."""
    peers = {"a": Peer("", reachable=("pbx1", "pbx2")), "b": Peer("", reachable=("pbx1",))}
    assert eligible_engines(peers) == ["a", "b"]


def test_each_misses_another_node() -> None:
    """Two that miss one each share as before; of two and one, the one has all."""
    a = Peer("", reachable=("pbx1", "pbx2"), unreachable=("pbx3",))
    b = Peer("", reachable=("pbx2", "pbx3"), unreachable=("pbx1",))
    c = Peer("", reachable=("pbx3",), unreachable=("pbx1", "pbx2"))
    assert eligible_engines({"a": a, "b": b}) == ["a", "b"]
    assert eligible_engines({"a": a, "c": c}) == ["a"]


def test_an_engine_of_an_older_version() -> None:
    """It says nothing of nodes, and has its share."""
    peers = Membership("a")
    peers.update({"a": '{"url": "x", "deaf": ["pbx1"]}', "b": '{"url": "y"}'})
    assert peers.fair_share(8) == 4
