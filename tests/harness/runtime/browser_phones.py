"""Browser phones of an agent, with their logins."""

from engine.runtime.agents.phone_credentials import (
    Login,
    PhoneCredentials,
    digests,
)

PHONE = "PJSIP/ada"

START_MS = 1_000

LIFE_MS = 60_000


def login(number: int, expires_ms: int = START_MS + LIFE_MS) -> Login:
    """Return a login of a tab."""
    username = f"ada~tab-with-a-long-name-{number:02}"
    return Login(username, *digests(username, "a password"), expires_ms)


def phone(*logins: Login) -> PhoneCredentials:
    """Return the credentials of a browser."""
    own = digests("ada", "known to no one")
    return PhoneCredentials("acme", "ada", "Ada", *own, kind="browser", logins=logins)
