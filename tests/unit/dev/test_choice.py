"""Where the PBX of a lab comes from."""

import pytest

from dev.errors import NoPbx
from dev.pbx.choice import Machine, choose


def machine(*has: str) -> Machine:
    """Return a machine with some of the three."""
    return Machine(lambda: "docker" in has, lambda: "path" in has, lambda: "debian" in has)


@pytest.mark.parametrize(
    ("has", "chosen"),
    [
        (("docker", "path", "debian"), "docker"),
        (("path", "debian"), "path"),
        (("debian",), "debian"),
    ],
)
def test_the_first_that_is_there(has: tuple[str, ...], chosen: str) -> None:
    """Docker needs neither root nor a certain system; a Debian root is built last."""
    assert choose("", machine(*has)) == chosen


def test_a_wish_goes_before_the_order() -> None:
    """`--pbx debian` uses the Debian root beside a Docker engine."""
    assert choose("debian", machine("docker", "path", "debian")) == "debian"


def test_nothing_is_there() -> None:
    """One sentence says what was looked for, and what to install."""
    with pytest.raises(NoPbx) as fault:
        choose("", machine())
    text = str(fault.value)
    assert "docker info" in text
    assert "asterisk on the PATH" in text
    assert "Install Docker, or Asterisk 20 or later, or run the command as root" in text


def test_what_is_wanted_is_not_there() -> None:
    """Only that is named, and no other is used."""
    with pytest.raises(NoPbx) as fault:
        choose("docker", machine("path", "debian"))
    assert "asterisk on the PATH" not in str(fault.value)
