"""Engines authenticate each other by signatures: no token is sent to an address of the store."""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from engine.rpc.access import RpcAccess
from engine.rpc.peers.client import FORWARDED
from engine.rpc.peers.signature import (
    MAX_AGE_S,
    MAX_SKEW_S,
    RequestLine,
    RequestSigner,
    SignatureVerifier,
    parse_signature,
)
from tests.harness.rpc.pair import BrokenEngine, EnginePair, request_of, running_pair
from tests.harness.rpc.scene import CALL, TOKEN, RpcScene
from tests.harness.shards import at

OLD, NEW = "the-old-token", "the-new-token"
HANGUP = "/rpc/v1/calls/0-pbx1-00000000/hangup"


class Spy(BrokenEngine):
    """A server whose address an attacker has written into the store."""

    def __init__(self) -> None:
        super().__init__()
        self.headers: list[dict[str, str]] = []

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Record the headers."""
        self.headers.append(dict(request.headers))
        return web.json_response({"calls": []})


@asynccontextmanager
async def pair_with(
    folder: Path, one: tuple[str, ...], two: tuple[str, ...]
) -> AsyncIterator[EnginePair]:
    """Run two engines with their own tokens; the first of each is the one it uses."""
    async with AsyncExitStack() as stack:
        pair = EnginePair()
        for scene, (token, *further) in ((pair.one, one), (pair.two, two)):
            scene.access = RpcAccess(scene.url, token, tuple(further))
        await pair.open(stack, folder)
        yield pair


async def send(scene: RpcScene, header: str, body: bytes, path: str = HANGUP) -> tuple[int, str]:
    """Send a request with an Authorization header; return its status and detail."""
    headers = {"Authorization": header, FORWARDED: "1"}
    async with scene.session.post(f"{scene.url}{path}", data=body, headers=headers) as got:
        return got.status, (await got.json())["detail"]


def signed(scene: RpcScene, body: bytes = b"{}", path: str = HANGUP, **more: float | str) -> str:
    """Return the signature of a request to a scene."""
    signer = RequestSigner(
        str(more.get("token", TOKEN)), lambda: float(more.get("at", time.time()))
    )
    return signer.sign(RequestLine(str(more.get("to", scene.url)), "POST", path), body)


async def test_no_token_is_sent_to_an_address_of_the_store(tmp_path: Path) -> None:
    """Who writes the address of a server into the store learns no token."""
    async with running_pair(tmp_path) as pair, Spy().running() as spy:
        pair.directories[pair.one].where[at(1)] = spy.url
        assert (await pair.one.request("GET", "/calls"))[0] == 200
        await pair.one.request("POST", "/calls", {**CALL, "requestId": await request_of(pair, 1)})
    assert isinstance(spy, Spy)
    assert len(spy.headers) == 2
    assert not [each for each in spy.headers if TOKEN in str(each)]


async def test_a_signature_is_accepted_once(scene: RpcScene) -> None:
    """A request that is sent again is refused."""
    header = signed(scene)
    assert (await send(scene, header, b"{}"))[0] == 404
    assert await send(scene, header, b"{}") == (401, "the request was sent before")


async def test_a_signature_is_for_one_request(scene: RpcScene) -> None:
    """Another body, path, receiver, token or time is refused."""
    for header, body, path in (
        (signed(scene), b'{"account": "acme"}', HANGUP),
        (signed(scene), b"{}", f"{HANGUP}?x=1"),
        (signed(scene, to="http://127.0.0.1:1"), b"{}", HANGUP),
        (signed(scene, token=NEW), b"{}", HANGUP),
        (signed(scene, at=time.time() - MAX_AGE_S - 5), b"{}", HANGUP),
        (signed(scene, at=time.time() + MAX_AGE_S + 5), b"{}", HANGUP),
        ("Switchroom-Engine a b c d", b"{}", HANGUP),
        ("Switchroom-Engine \udcff b c \udcff", b"{}", HANGUP),
        (f"Switchroom-Engine {TOKEN}", b"{}", HANGUP),
    ):
        assert (await send(scene, header, body, path))[0] == 401
    assert (await send(scene, signed(scene), b"{}"))[0] == 404


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ((OLD,), (OLD, NEW)),  # 1. each engine accepts the new token
        ((OLD, NEW), (NEW, OLD)),  # 2. each engine uses it
        ((NEW, OLD), (NEW,)),  # 3. the old one is forgotten
    ],
)
async def test_the_token_changes_without_a_stop(
    tmp_path: Path, one: tuple[str, ...], two: tuple[str, ...]
) -> None:
    """In each step engines forward to each other, and clients with either token are served."""
    async with pair_with(tmp_path, one, two) as pair:
        for scene, tokens in ((pair.one, one), (pair.two, two)):
            for token in tokens:
                headers = {"Authorization": f"Bearer {token}"}
                assert (await scene.request("GET", "/calls", headers=headers))[0] == 200
                body = {**CALL, "requestId": await request_of(pair, int(scene is pair.one))}
                assert (await scene.request("POST", "/calls", body, headers=headers))[0] == 201


async def test_a_forgotten_token_is_refused(tmp_path: Path) -> None:
    """By clients as by engines."""
    async with pair_with(tmp_path, (OLD,), (NEW,)) as pair:
        headers = {"Authorization": f"Bearer {OLD}"}
        assert (await pair.two.request("GET", "/calls", headers=headers))[0] == 401
        header = signed(pair.two, token=OLD)
        assert await send(pair.two, header, b"{}") == (401, "wrong signature")
        body = {**CALL, "requestId": await request_of(pair, 1)}
        headers = {"Authorization": f"Bearer {OLD}"}
        answer = await pair.one.problem("POST", "/calls", body, headers=headers)
        assert answer == (503, "owner_refuses")


def test_nothing_signed_before_the_start_is_accepted() -> None:
    """An engine that was restarted has forgotten which requests it has accepted."""
    now_s = 1_000.0
    line = RequestLine("http://engine2", "POST", HANGUP)
    before = parse_signature(RequestSigner(TOKEN, lambda: now_s).sign(line, b"{}"))
    assert before is not None
    assert not SignatureVerifier([TOKEN], lambda: now_s).verify(line, before)
    restarted = SignatureVerifier([TOKEN], lambda: now_s + 2 * MAX_SKEW_S)
    assert "before this engine started" in restarted.verify(line, before)
