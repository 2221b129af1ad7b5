"""Commands whose profile lacks what they need: the error names the profile and the setting."""

from pathlib import Path

import pytest

from tests.contract.cli.fake_engine import FakeEngine
from tests.contract.cli.fake_rest import FakeRest, problem
from tests.harness.cli.forked import Ended, run_forked

OF_OPERATORS = (
    "node list", "slots", "call replay c1", "call list --ended 1", "call list --watch",
)  # fmt: skip


async def run(folder: Path, profile: str, words: str, **settings: str) -> Ended:
    """Run a command with a file of one profile, which is in use unless the settings say more."""
    path = folder / "switchroom" / "profiles.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'current = "acme"\n[profiles.acme]\n{profile}')
    return await run_forked(words.split(), folder, {"XDG_CONFIG_HOME": str(folder), **settings})


@pytest.mark.parametrize("words", OF_OPERATORS)
async def test_a_profile_without_operator_access(tmp_path: Path, words: str) -> None:
    """No request is sent: the error says what is in use, what it lacks, and which setting it is."""
    async with FakeRest() as rest:
        ended = await run(tmp_path, f'api_url = "{rest.url()}"\napi_key = "swk_1"', words)
    assert (ended.status, ended.out, rest.requests) == (2, "", [])
    assert "needs operator access, and profile acme has only a key of an account" in ended.err
    assert "`switchroom profile set acme --rpc-url URL --rpc-token -`" in ended.err


async def test_an_environment_without_operator_access(tmp_path: Path) -> None:
    """The setting is then a variable."""
    async with FakeRest() as rest:
        ended = await rest.run(tmp_path, "node", "list")
    assert (ended.status, rest.requests) == (2, [])
    assert "needs operator access, and the environment has only a key of an account" in ended.err
    assert "set SWITCHROOM_RPC_TOKEN" in ended.err


async def test_a_profile_without_a_key(tmp_path: Path) -> None:
    """A customer's command says which settings give it a key."""
    ended = await run(tmp_path, 'rpc_url = "http://127.0.0.1:9"\nrpc_token = "t"', "number list")
    assert ended.status == 2
    assert "needs the REST layer and a key of an account, and profile acme has none" in ended.err
    assert "--api-url URL --api-key KEY" in ended.err


async def test_an_engine_is_no_rest_layer(tmp_path: Path) -> None:
    """`--url` with a command of a customer is an error, not a request to another server."""
    async with FakeRest() as rest:
        ended = await rest.run(tmp_path, "number", "list", "--url", "http://127.0.0.1:9")
    assert (ended.status, rest.requests) == (2, [])
    assert "--url names an engine, and this command needs the REST layer" in ended.err


async def test_a_wrong_token_is_named_with_its_profile(tmp_path: Path, engine: FakeEngine) -> None:
    """A person with several profiles sees which one the engine rejected."""
    ended = await run(tmp_path, f'rpc_url = "{engine.url()}"\nrpc_token = "t"', "node list")
    assert ended.status == 2
    for text in ("wrong token", "profile acme is in use", "SWITCHROOM_RPC_TOKEN"):
        assert text in ended.err


async def test_a_missing_scope_is_named_with_its_profile(tmp_path: Path) -> None:
    """A key without the scope may be that of another profile."""
    async with FakeRest() as rest:
        rest.default = problem(403, "scope", "the scope jobs is needed")
        ended = await run(tmp_path, f'api_url = "{rest.url()}"\napi_key = "swk_1"', "job list")
    assert ended.status == 2
    for text in ("the scope jobs is needed", "profile acme is in use", "switchroom key list"):
        assert text in ended.err


async def test_the_settings_of_a_rest_layer_are_a_key(tmp_path: Path) -> None:
    """After `make up`, `.env` has a REST layer and a key: what only customers do works there."""
    async with FakeRest() as rest:
        host, port = rest.url().removeprefix("http://").split(":")
        lines = {"RPC_TOKEN": "t", "API_HOST": host, "API_PORT": port, "API_KEY": "swk_1"}
        (tmp_path / ".env").write_text(
            "".join(f"SWITCHROOM_{name}={value}\n" for name, value in lines.items())
        )
        rest.default = {"data": [], "total": 0, "limit": 10, "offset": 0}
        settings = {"XDG_CONFIG_HOME": str(tmp_path)}
        ended = await run_forked(("number", "list"), tmp_path, settings)
    assert (ended.status, ended.err) == (0, "")
    assert [each.headers["Authorization"] for each in rest.requests] == ["swk_1"]
