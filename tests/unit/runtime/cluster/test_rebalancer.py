"""Shares of slots when engines can't reach nodes that others reach."""

from collections.abc import Mapping

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from engine.runtime.cluster.membership import Membership, Peer, eligible_engines

NODES = ("pbx1", "pbx2", "pbx3")


@st.composite
def _peer(draw: st.DrawFn) -> Peer:
    of_each = [draw(st.sampled_from(("reachable", "unreachable", "unknown"))) for _ in NODES]
    by = {
        what: tuple(n for n, e in zip(NODES, of_each, strict=True) if e == what) for what in of_each
    }
    return Peer(
        "http://x", reachable=by.get("reachable", ()), unreachable=by.get("unreachable", ())
    )


ENGINES = st.dictionaries(st.sampled_from("abcde"), _peer(), min_size=1)


def seen_by(name: str, peers: Mapping[str, Peer]) -> Membership:
    """Return the membership as one engine sees it."""
    known = Membership(name)
    known.update({each: msgspec.json.encode(peer).decode() for each, peer in peers.items()})
    return known


def count_missing(peer: Peer, peers: Mapping[str, Peer]) -> int:
    """Count the nodes that an engine can't reach and another can."""
    return sum(any(node in each.reachable for each in peers.values()) for node in peer.unreachable)


@given(ENGINES, st.integers(1, 64))
def test_every_slot_belongs_to_an_engine(peers: Mapping[str, Peer], slots: int) -> None:
    """Shares add up to all slots, and all engines compute the same ones."""
    known = {name: seen_by(name, peers) for name in peers}
    shares = {name: each.fair_share(slots) for name, each in known.items()}
    assert sum(shares.values()) == slots
    counts = [shares[name] for name in eligible_engines(peers)]
    assert max(counts) - min(counts) <= 1
    assert {each.engine_count for each in known.values()} == {len(counts)}


@given(ENGINES)
def test_an_ineligible_engine_has_a_reason(peers: Mapping[str, Peer]) -> None:
    """It lacks more nodes than eligible engines do, and names them."""
    eligible = eligible_engines(peers)
    fewest = {count_missing(peers[name], peers) for name in eligible}
    assert len(fewest) == 1
    for name, peer in peers.items():
        reason = seen_by(name, peers).unreachable_nodes
        assert (name in eligible) == (not reason)
        if reason:
            assert count_missing(peer, peers) > min(fewest)
            assert reason <= set(peer.unreachable)


@given(st.dictionaries(st.sampled_from("abc"), st.sets(st.sampled_from(NODES)), min_size=1))
def test_a_dead_node_makes_no_engine_ineligible(lacking: Mapping[str, set[str]]) -> None:
    """While no engine reaches a node, all are eligible."""
    peers = {name: Peer("", unreachable=tuple(missing)) for name, missing in lacking.items()}
    assert eligible_engines(peers) == sorted(peers)


def test_a_node_that_only_one_engine_knows() -> None:
    """An engine with older settings does not lack a node that it does not know."""
    peers = {"a": Peer("", reachable=("pbx1", "pbx2")), "b": Peer("", reachable=("pbx1",))}
    assert eligible_engines(peers) == ["a", "b"]


def test_each_engine_lacks_another_node() -> None:
    """Engines that lack equally many are all eligible; otherwise those that lack fewest."""
    a = Peer("", reachable=("pbx1", "pbx2"), unreachable=("pbx3",))
    b = Peer("", reachable=("pbx2", "pbx3"), unreachable=("pbx1",))
    c = Peer("", reachable=("pbx3",), unreachable=("pbx1", "pbx2"))
    assert eligible_engines({"a": a, "b": b}) == ["a", "b"]
    assert eligible_engines({"a": a, "c": c}) == ["a"]


def test_an_engine_of_an_older_version() -> None:
    """A heartbeat without nodes is eligible."""
    peers = Membership("a")
    peers.update({"a": '{"url": "x", "unreachable": ["pbx1"]}', "b": '{"url": "y"}'})
    assert peers.fair_share(8) == 4
