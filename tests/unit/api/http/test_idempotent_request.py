"""What identifies a request that is sent again."""

from itertools import combinations

from msgspec.structs import replace

from api.http.idempotency import IdempotentRequest

PLAIN = IdempotentRequest("acme", None, "k", "/x", b"{}")


def test_each_caller_has_keys_of_its_own() -> None:
    """An account, its agents, and with a secret each API key."""
    callers = [
        PLAIN,
        replace(PLAIN, agent_id=""),
        replace(PLAIN, agent_id="1001"),
        replace(PLAIN, key_id="1"),
        replace(PLAIN, key_id="2"),
        replace(PLAIN, key_id="1", agent_id="1001"),
    ]
    for one, other in combinations(callers, 2):
        assert one.stored_key != other.stored_key
        assert one.place != other.place
        assert one.request_id("s") != other.request_id("s")
    assert PLAIN.stored_key == "k"
    assert PLAIN.place != replace(PLAIN, account_id="other").place


def test_the_same_request_has_the_same_id() -> None:
    """Whatever it contains; who does not know the secret cannot compute it."""
    found = PLAIN.request_id("s")
    assert found == replace(PLAIN, body=b"other").request_id("s")
    assert len({found, *map(PLAIN.request_id, ("t", "")), "k"}) == 4
    assert (len(found), int(found, 16) > 0) == (32, True)


def test_another_request_has_another_digest() -> None:
    """Of another path or body; their border counts."""
    others = [("/x?a=1", b"{}"), ("/x", b"[]"), ("/x{", b"}"), ("/", b"x{}")]
    digests = {replace(PLAIN, path=path, body=body).digest for path, body in others}
    assert len({PLAIN.digest, *digests}) == 5
