"""Which servers a command uses: options, a profile, the environment or `.env`."""

import stat
from pathlib import Path

import pytest

from base.invalid_settings import InvalidSettings
from cli.errors import UsageError
from cli.options.connection import ClientSettings, ConnectionOptions, client_settings
from cli.options.profiles import Profile, Profiles, profiles_path, read_profiles

ACME = Profile(api_url="https://voice.example.com", api_key="swk_1", account="acme")
LAB = Profile(rpc_url="http://127.0.0.1:9070", rpc_token="lab")  # noqa: S106 - of a test


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Return an environment with a file of two profiles; the first one is in use."""
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    Profiles(profiles_path(environ), {"acme": ACME, "lab": LAB}, "acme").save()
    return environ


def found(environ: dict[str, str], dotenv: Path = Path("/none"), **options: str) -> ClientSettings:
    """Return the settings for an environment and options."""
    return client_settings(ConnectionOptions(**options), environ, dotenv)


def test_the_profile_in_use_is_used(environ: dict[str, str], tmp_path: Path) -> None:
    """A folder's `.env` does not decide which servers are reached."""
    dotenv = tmp_path / ".env"
    dotenv.write_text("SWITCHROOM_RPC_PORT=1\n")
    settings = found(environ, dotenv)
    assert (settings.source, settings.api_url) == ("profile acme", "https://voice.example.com")
    assert settings.has_api


def test_a_server_of_the_environment_goes_before_the_one_in_use(environ: dict[str, str]) -> None:
    """Scripts that set servers are not led to the profile that a person happens to use."""
    settings = found(environ | {"SWITCHROOM_RPC_PORT": "8071"})
    assert (settings.rpc_url, settings.api_key) == ("http://127.0.0.1:8071", "")


@pytest.mark.parametrize("by_option", [True, False])
def test_a_named_profile_replaces_the_environment(
    environ: dict[str, str], *, by_option: bool
) -> None:
    """Nothing of the environment is mixed into a profile: a key never goes to another's server."""
    environ |= {"SWITCHROOM_RPC_PORT": "8071", "SWITCHROOM_API_KEY": "swk_2"}
    if by_option:
        settings = found(environ, profile="lab")
    else:
        settings = found(environ | {"SWITCHROOM_PROFILE": "lab"})
    assert (settings.rpc_url, settings.rpc_token) == ("http://127.0.0.1:9070", "lab")
    assert settings.api_key == ""


def test_an_engine_on_the_command_line_gets_no_token_of_a_profile(environ: dict[str, str]) -> None:
    """`--url` uses the token of `--token` or of the environment."""
    settings = found(environ | {"SWITCHROOM_RPC_TOKEN": "own"}, url="http://127.0.0.1:1")
    assert (settings.rpc_token, settings.has_api) == ("own", False)
    with pytest.raises(UsageError, match="exclude"):
        found(environ, url="http://127.0.0.1:1", profile="lab")


def test_without_profiles_the_environment_goes_before_the_file(tmp_path: Path) -> None:
    """`.env` is read as before, quotes included; a bind-all address is reached on loopback."""
    dotenv = tmp_path / ".env"
    dotenv.write_text('SWITCHROOM_RPC_TOKEN="a b"\nSWITCHROOM_ACCOUNT=file\nOTHER=1\n')
    environ = {"SWITCHROOM_ACCOUNT": "env", "SWITCHROOM_RPC_HOST": "::", "XDG_CONFIG_HOME": "/none"}
    settings = found(environ | {"SWITCHROOM_RPC_TLS_CERT": "/a.pem"}, dotenv)
    assert settings.rpc_url == "https://[::1]:8070"
    assert (settings.rpc_token, settings.account) == ("a b", "env")


def test_the_file_of_an_engines_settings_is_read(tmp_path: Path) -> None:
    """On an engine's host, commands find the engine as it found its settings."""
    (config := tmp_path / "switchroom.toml").write_text(
        'rpc_port = 9070\nrpc_token = "t"\naccount = "toml"\nnodes = [{name = "pbx1"}]\n'
    )
    (dotenv := tmp_path / ".env").write_text("SWITCHROOM_ACCOUNT=file\n")
    environ = {"SWITCHROOM_CONFIG": str(config), "XDG_CONFIG_HOME": "/none"}
    settings = found(environ, dotenv)
    assert (settings.rpc_url, settings.rpc_token) == ("http://127.0.0.1:9070", "t")
    assert settings.account == "file"


@pytest.mark.parametrize(
    ("content", "expected"), [("[", "no valid TOML"), (None, "No such file or directory")]
)
def test_a_wrong_file_of_settings(tmp_path: Path, content: str | None, expected: str) -> None:
    """The error names the variable."""
    config = tmp_path / "switchroom.toml"
    if content is not None:
        config.write_text(content)
    with pytest.raises(InvalidSettings, match=f"SWITCHROOM_CONFIG: .*{expected}"):
        found({"SWITCHROOM_CONFIG": str(config), "XDG_CONFIG_HOME": "/none"})


def test_the_settings_of_a_rest_layer_name_its_address() -> None:
    """They are used where only the REST layer can help; an engine is used otherwise."""
    environ = {"SWITCHROOM_API_HOST": "0.0.0.0", "SWITCHROOM_API_KEY": "k", "XDG_CONFIG_HOME": "/n"}
    settings = found(environ)
    assert (settings.own_api_url, settings.has_api) == ("http://127.0.0.1:8000", False)
    assert settings.source == "the environment"


def test_a_port_is_checked() -> None:
    """The error names the variable and what is allowed."""
    with pytest.raises(InvalidSettings) as error:
        found({"SWITCHROOM_RPC_PORT": "many", "XDG_CONFIG_HOME": "/none"})
    assert error.value.lines == ("SWITCHROOM_RPC_PORT: a port, 0 to 65535, is expected",)


def test_the_file_is_its_owners(environ: dict[str, str]) -> None:
    """Keys are in a file that no other user may read; it is read as it was written."""
    path = profiles_path(environ)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_profiles(path) == Profiles(path, {"acme": ACME, "lab": LAB}, "acme")
    assert "swk_1" not in repr(ACME)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("current = 1", "a text `current` and tables `profiles` are expected"),
        ("[profiles.a]\nkey = ''", "profiles.a.key: one of api_url, api_key, "),
        ("[profiles.a]\naccount = 1", "profiles.a.account: a text is expected"),
        ("[profiles]\na = 1", "profiles.a: a table is expected"),
        ("[profiles.'a b']", "profile a b: 1 to 64 letters"),
        ("[", "no valid TOML"),
        ("\x00", "no valid TOML"),
    ],
)
def test_a_wrong_file_is_an_error_with_its_place(
    tmp_path: Path, content: str, expected: str
) -> None:
    """Errors name the file, the key and what is allowed."""
    path = tmp_path / "profiles.toml"
    path.write_text(content)
    with pytest.raises(InvalidSettings) as error:
        read_profiles(path)
    assert expected in str(error.value)


def test_an_unknown_profile_is_an_error_that_lists_the_others(environ: dict[str, str]) -> None:
    """A misspelled name reaches no server at all."""
    with pytest.raises(InvalidSettings, match=r"profile labs: not in .*: acme, lab"):
        found(environ, profile="labs")
