"""Access to the RPC: the token, and the isolation of accounts."""

import pytest

from tests.harness.rpc.scene import TOKEN, RpcScene, raw


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer wrong", TOKEN, f"bearer {TOKEN}", f"Bearer {TOKEN} "]
)
@pytest.mark.parametrize("path", ["/calls", "/openapi.json", "/no/such"])
async def test_nothing_without_the_token(scene: RpcScene, given: str | None, path: str) -> None:
    """Every path below /rpc/v1 requires the bearer token."""
    headers = {} if given is None else {"Authorization": given}
    async with scene.session.get(f"{scene.url}/rpc/v1{path}", headers=headers) as got:
        # Blanks around a header's value are not part of it.
        assert got.status == (401 if (given or "").strip() != f"Bearer {TOKEN}" else got.status)
        assert got.content_type in {"application/problem+json", "application/json"}


async def test_a_token_of_odd_bytes_is_wrong(scene: RpcScene) -> None:
    """Bytes that are not UTF-8 are a wrong token, not an internal error."""
    answer = await raw(scene, b"GET /rpc/v1/calls HTTP/1.1\r\nAuthorization: Bearer \xff\xfe\r\n")
    assert answer.startswith(b"HTTP/1.1 401")


async def test_an_account_sees_only_its_own(scene: RpcScene) -> None:
    """Calls of other accounts and guessed ids get 404."""
    call_id = await scene.start_call()
    missing = f"{call_id[:-1]}{'0' if call_id[-1] != '0' else '1'}"
    for found, account in ((call_id, "other"), (missing, "acme"), ("nonsense", "acme")):
        for path in (f"/calls/{found}", f"/calls/{found}/timeline"):
            assert await scene.problem("GET", f"{path}?account={account}") == (404, "not_found")
        hangup = await scene.problem("POST", f"/calls/{found}/hangup", {"account": account})
        assert hangup == (404, "not_found")
    assert (await scene.request("GET", f"/calls/{call_id}?account=acme"))[0] == 200


@pytest.mark.parametrize(
    "call", ["%D9%A3-pbx1-abcdefgh", "0-pbx1-abcdefgh%0A", "..%2f..", "%00", "9" * 4000]
)
async def test_odd_ids_are_unknown(scene: RpcScene, call: str) -> None:
    """Malformed ids get 404."""
    from yarl import URL  # noqa: PLC0415 - to send a path as it is

    url = URL(f"{scene.url}/rpc/v1/calls/{call}", encoded=True)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with scene.session.get(url, headers=headers) as got:
        assert got.status == 404
