"""Asking a PBX's manager interface: what it answers, and what becomes of trouble."""

import pytest

from engine.ami.client import AmiResponse, open_ami, parse_response


def test_what_went_wrong_is_told() -> None:
    """Asterisk says so with status 200."""
    said = "Response: Error\r\nMessage: No such channel\r\n\r\n"
    fields = {"Response": "Error", "Message": "No such channel"}
    assert parse_response(said) == AmiResponse(False, "No such channel", fields)


async def test_no_field_becomes_two() -> None:
    """A line feed would begin another field, or another action."""
    async with open_ami("http://127.0.0.1:1", "user", "secret") as ami:
        with pytest.raises(ValueError, match="more than one line"):
            await ami.ask("MixMonitor", {"Channel": "1.7\r\nAction: Originate"})
