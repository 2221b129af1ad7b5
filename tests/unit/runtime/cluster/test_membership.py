"""Membership: the heartbeats of engines, and who owns what."""

import msgspec
from msgspec.structs import replace

from engine.runtime.base.node_report import AccountUse, NodeReport
from engine.runtime.cluster.membership import Membership, Peer
from engine.store.compressed_call import DICTIONARY
from wire.shard import ShardId

NODE = "pbx1"


def heartbeat(url: str, slots: tuple[int, ...] = (), **calls: int) -> str:
    """Encode an engine's heartbeat."""
    shards = {f"{NODE}/{slot}": 0 for slot in slots}
    return msgspec.json.encode(Peer(url, shards, calls)).decode()


def test_the_owner_of_a_shard() -> None:
    """Finds the other engine with a shard, or with any shard for None."""
    peers = Membership("a")
    peers.update(
        {"a": heartbeat("here", (0,)), "b": heartbeat("there", (1,)), "c": heartbeat("idle")}
    )
    assert peers.url_of(ShardId(NODE, 1)) == "there"
    assert peers.url_of(None) == "there"
    assert peers.url_of(ShardId(NODE, 0)) is None
    assert peers.url_of(ShardId(NODE, 2)) is None
    assert peers.holder(ShardId(NODE, 1)) == "b"
    assert peers.held == {ShardId(NODE, 1): "b"}


def test_a_shard_of_others_that_gets_new_calls() -> None:
    """At one of some nodes, if it is not retired."""
    peers = Membership("a")
    peers.update({"a": heartbeat("a", (0,)), "b": heartbeat("b", (5, 1))})
    assert peers.owner_at([NODE], 4) == ShardId(NODE, 1)
    assert peers.owner_at([NODE], 1) is None
    assert peers.owner_at(["pbx2"], 4) is None


def test_a_shard_of_an_engine_with_room() -> None:
    """The engine that may have the most further calls, and its shard with the fewest."""
    peers = Membership("a")
    calls_of = {"b": (9, 9), "c": (1, 2, 0), "d": (0, 0)}
    capacity_of = {"b": 18, "c": 20, "d": 0}
    alive = {
        name: Peer(name, {f"{name}/{slot}": each for slot, each in enumerate(calls)})
        for name, calls in calls_of.items()
    }
    peers.update(
        {
            name: msgspec.json.encode(replace(peer, capacity=capacity_of[name])).decode()
            for name, peer in alive.items()
        }
    )
    assert peers.owner_with_room(["b", "c", "d"], 3) == ShardId("c", 2)
    assert peers.owner_with_room(["b", "c", "d"], 2) == ShardId("c", 0)
    assert peers.owner_with_room(["b", "d"], 3) is None


def test_calls_that_are_passed_on() -> None:
    """The engines of a node get them in turn; they count until the next heartbeats."""
    peers = Membership("a")
    alive = {"a": heartbeat("a", (0,)), "b": heartbeat("b", (5, 1)), "c": heartbeat("c", (2,))}
    peers.update(alive)
    passed = [peers.pass_on(NODE, 4) for _ in range(3)]
    assert passed == [ShardId(NODE, 2), ShardId(NODE, 1), ShardId(NODE, 2)]
    assert peers.pass_on("pbx2", 4) is None
    assert (peers.passed_on(NODE), peers.passed_on("pbx2")) == (3, 0)
    peers.update(alive)
    assert peers.passed_on(NODE) == 0


def test_the_share_of_a_nodes_rate() -> None:
    """Each engine's part is that of its shards among the node's."""
    peers = Membership("a")
    peers.update({"a": heartbeat("a", (0,)), "b": heartbeat("b", (1, 2, 3))})
    assert peers.rate_share(NODE) == 0.25
    assert peers.rate_share("pbx2") == 0.5
    assert peers.engine_count == 2


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


def test_nodes_that_an_engine_misses() -> None:
    """Those that it can't reach and another engine reaches; what none reaches is missed by none."""
    peers = Membership("a")
    bodies = {
        "a": Peer("a", unreachable=("pbx1", "pbx2"), unproven=("pbx3",), capacity=7),
        "b": Peer("b", reachable=("pbx1",), unreachable=("pbx2",)),
    }
    peers.update({name: msgspec.json.encode(body).decode() for name, body in bodies.items()})
    state = peers.states()["a"]
    assert (set(state.missing), state.capacity) == ({"pbx1"}, 7)
    assert state.nodes == {"pbx1", "pbx2", "pbx3"}
    assert peers.nodes == {"pbx1", "pbx2", "pbx3"}


def test_unreadable_calls() -> None:
    """A shard needs a later format than that of every engine that can't read its calls."""
    peers = Membership("a", 3)
    bodies = {
        "b": Peer("b", format=1, unreadable=("pbx1/0",)),
        "c": Peer("c", format=2, unreadable=("pbx1/0", "pbx1/1")),
    }
    peers.update({name: msgspec.json.encode(body).decode() for name, body in bodies.items()})
    assert peers.unreadable == {ShardId(NODE, 0): 2, ShardId(NODE, 1): 2}


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
        for name, number in {"b": 1, "c": DICTIONARY + 1}.items()
    }
    peers.update({"a": heartbeat("a"), **others})
    assert peers.dictionary == 1
    peers.update({"a": heartbeat("a"), **others, "d": heartbeat("d")})
    assert peers.dictionary == 0


def test_the_report_of_a_node() -> None:
    """That of an engine that watches the node now; this engine's own is none of others."""
    peers, leaving = Membership("a"), NodeReport(is_shutting_down=True)
    watched = NodeReport(is_watched=True, calls=3)
    reports = {"a": {NODE: watched}, "b": {NODE: watched, "pbx2": leaving}, "c": {NODE: leaving}}
    alive = {name: Peer(name, reports=each) for name, each in reports.items()}
    peers.update({name: msgspec.json.encode(each).decode() for name, each in alive.items()})
    assert [peers.node_report(node) for node in (NODE, "pbx2", "pbx3")] == [watched, leaving, None]
    peers.update({"a": msgspec.json.encode(alive["a"]).decode()})
    assert peers.node_report(NODE) is None


def test_engines_that_lost_the_store_may_still_have_heard_digits() -> None:
    """For a minute they are asked, too, unless a live engine has heard a whole minute itself."""
    peers = Membership("a")

    def hearing(url: str, for_s: int) -> str:
        return msgspec.json.encode(Peer(url, heard_s={NODE: for_s})).decode()

    peers.update({"a": heartbeat("a"), "b": hearing("b", 60), "c": hearing("c", 40)}, 100.0)
    peers.update({"a": heartbeat("a"), "c": hearing("c", 41), "d": hearing("d", 2)}, 101.0)
    assert peers.hearers(NODE) == ["c", "d", "b"]
    peers.update({"a": heartbeat("a"), "d": hearing("d", 30)}, 130.0)
    assert peers.hearers(NODE) == ["d", "b", "c"]
    peers.update({"a": heartbeat("a"), "d": hearing("d", 60)}, 160.0)
    assert peers.hearers(NODE) == ["d"]
    peers.update({"a": heartbeat("a"), "d": hearing("d", 50)}, 161.0)
    assert peers.hearers(NODE) == ["d", "c"]
    peers.update({"a": heartbeat("a"), "c": hearing("c", 5)}, 162.0)
    assert peers.hearers(NODE) == ["c", "d"]


def test_accounts_phones_and_offers() -> None:
    """What other engines have dialled and know is added up; offers are those of all engines."""
    peers = Membership("a")
    offers = {"pbx1/0": "b"}
    bodies = {
        "a": Peer("http://a", accounts={"acme": AccountUse(9, 9_000, 9)}, phones=3, offers=offers),
        "b": Peer("http://b", accounts={"acme": AccountUse(1, 100, 4)}, phones=7),
        "c": Peer(
            "http://c",
            accounts={"acme": AccountUse(2, 30, 3)},
            offers={"pbx1/0": "d", "pbx1/1": "a"},
        ),
    }
    peers.update({name: msgspec.json.encode(body).decode() for name, body in bodies.items()})
    assert [peers.account_use(each) for each in ("acme", "none")] == [(3, 130, 7), (0, 0, 0)]
    assert peers.phone_revisions == {"http://b": 7}
    assert peers.offers == {ShardId(NODE, 0): "d", ShardId(NODE, 1): "a"}
