"""The manager client: parsing and invalid fields."""

import pytest

from engine.ami.client import AmiResponse, open_ami, parse_response


def test_an_error_response() -> None:
    """Asterisk reports errors with status 200."""
    text = "Response: Error\r\nMessage: No such channel\r\n\r\n"
    fields = {"Response": "Error", "Message": "No such channel"}
    assert parse_response(text) == AmiResponse(False, "No such channel", fields)


async def test_a_field_with_a_line_break() -> None:
    """A line feed would start another field, or another action."""
    async with open_ami("http://127.0.0.1:1", "user", "secret") as ami:
        with pytest.raises(ValueError, match="more than one line"):
            await ami.ask("MixMonitor", {"Channel": "1.7\r\nAction: Originate"})
