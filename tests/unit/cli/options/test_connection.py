"""Which servers a command uses: options, a profile, the environment or `.env`."""

import stat
from pathlib import Path

import pytest

from base.invalid_settings import InvalidSettings
from cli.options.connection import ClientSettings, ConnectionOptions, client_settings
from cli.options.profiles import Profile, Profiles, profiles_path, read_profiles

ACME = Profile(api_url="https://voice.example.com", api_key="swk_1", account="acme")
LAB = Profile(api_url="http://127.0.0.1:9000", api_key="swk_lab")


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
    dotenv.write_text("SWITCHROOM_API_URL=http://127.0.0.1:1\n")
    settings = found(environ, dotenv)
    assert (settings.source, settings.api_url) == ("profile acme", "https://voice.example.com")


def test_a_server_of_the_environment_goes_before_the_one_in_use(environ: dict[str, str]) -> None:
    """Scripts that set servers are not led to the profile that a person happens to use."""
    settings = found(environ | {"SWITCHROOM_API_URL": "http://127.0.0.1:8001"})
    assert (settings.api_url, settings.api_key) == ("http://127.0.0.1:8001", "")


@pytest.mark.parametrize("by_option", [True, False])
def test_a_named_profile_replaces_the_environment(
    environ: dict[str, str], *, by_option: bool
) -> None:
    """Nothing of the environment is mixed into a profile: a key never goes to another's server."""
    environ |= {"SWITCHROOM_API_URL": "http://127.0.0.1:8001", "SWITCHROOM_API_KEY": "swk_2"}
    if by_option:
        settings = found(environ, profile="lab")
    else:
        settings = found(environ | {"SWITCHROOM_PROFILE": "lab"})
    assert (settings.api_url, settings.api_key) == ("http://127.0.0.1:9000", "swk_lab")


def test_another_account_is_acted_for(environ: dict[str, str]) -> None:
    """The account of the settings is the key's, which is not named to the server."""
    assert found(environ, account="other").acts_for == "other"
    assert (found(environ).account, found(environ).acts_for) == ("acme", "")


def test_without_profiles_the_environment_goes_before_the_file(tmp_path: Path) -> None:
    """`.env` is read, quotes included; a bind-all address is reached on loopback."""
    dotenv = tmp_path / ".env"
    dotenv.write_text('SWITCHROOM_API_KEY="a b"\nSWITCHROOM_ACCOUNT=file\nOTHER=1\n')
    environ = {"SWITCHROOM_ACCOUNT": "env", "SWITCHROOM_API_HOST": "::", "XDG_CONFIG_HOME": "/none"}
    settings = found(environ, dotenv)
    assert settings.api_url == "http://[::1]:8000"
    assert (settings.api_key, settings.account) == ("a b", "env")
    assert settings.source == f"the environment and {dotenv}"


def test_the_settings_of_a_rest_layer_name_its_address() -> None:
    """On its machine, commands find it; an address of its own goes before."""
    environ = {"SWITCHROOM_API_HOST": "0.0.0.0", "SWITCHROOM_API_KEY": "k", "XDG_CONFIG_HOME": "/n"}
    settings = found(environ)
    assert (settings.api_url, settings.source) == ("http://127.0.0.1:8000", "the environment")
    named = environ | {"SWITCHROOM_API_URL": "https://voice.example.com"}
    assert found(named).api_url == "https://voice.example.com"


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
