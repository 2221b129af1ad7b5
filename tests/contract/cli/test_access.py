"""Commands whose profile lacks what they need: the error names the profile and the setting."""

from pathlib import Path

from tests.contract.cli.fake_rest import FakeRest, problem
from tests.harness.cli.forked import Ended, run_forked


async def run(folder: Path, profile: str, words: str, **settings: str) -> Ended:
    """Run a command with a file of one profile, which is in use unless the settings say more."""
    path = folder / "switchroom" / "profiles.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'current = "acme"\n[profiles.acme]\n{profile}')
    return await run_forked(words.split(), folder, {"XDG_CONFIG_HOME": str(folder), **settings})


async def test_a_profile_without_a_key(tmp_path: Path) -> None:
    """The command says which settings give it a key."""
    ended = await run(tmp_path, 'api_url = "http://127.0.0.1:9"', "number list")
    assert ended.status == 2
    assert "needs the REST layer and a key, and profile acme has none" in ended.err
    assert "--api-url URL --api-key KEY" in ended.err


async def test_a_wrong_key_is_named_with_its_profile(tmp_path: Path) -> None:
    """A person with several profiles sees which one the server rejected."""
    async with FakeRest() as rest:
        rest.default = problem(401, "unauthenticated", "wrong key")
        ended = await run(tmp_path, f'api_url = "{rest.url()}"\napi_key = "swk_1"', "node list")
    assert ended.status == 2
    for text in ("wrong key", "profile acme is in use", "switchroom profile show"):
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
    """After `make up`, `.env` has a REST layer and a key."""
    async with FakeRest() as rest:
        host, port = rest.url().removeprefix("http://").split(":")
        lines = {"API_HOST": host, "API_PORT": port, "API_KEY": "swk_1"}
        (tmp_path / ".env").write_text(
            "".join(f"SWITCHROOM_{name}={value}\n" for name, value in lines.items())
        )
        rest.default = {"data": [], "total": 0, "limit": 10, "offset": 0}
        settings = {"XDG_CONFIG_HOME": str(tmp_path)}
        ended = await run_forked(("number", "list"), tmp_path, settings)
    assert (ended.status, ended.err) == (0, "")
    assert [each.headers["Authorization"] for each in rest.requests] == ["swk_1"]
