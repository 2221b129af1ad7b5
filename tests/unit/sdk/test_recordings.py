"""The audio of recordings, by every address that a developer may have."""

import httpx2
import pytest
from switchroom_sdk import ApiError, AsyncSwitchroom, InvalidField, Switchroom

PATH = "acme/2026-11-26/3-pbx1-7f3a.v1.wav"
FILE = f"https://voice.example/srmain/recordings/files/{PATH}"
ADDRESSES = (
    FILE,
    f"https://elsewhere.example/{PATH}",
    f"file:///var/lib/recordings/{PATH}",
    f"s3://recordings/{PATH}",
    f"/srmain/recordings/files/{PATH}",
    f"/media/recordings/{PATH}?expires=1&signature=x",
)


def respond(request: httpx2.Request) -> httpx2.Response:
    """Send the file to a request with the key, and an error to all others."""
    is_right = str(request.url) == FILE and request.headers["Authorization"] == "key"
    return httpx2.Response(200, content=b"RIFF") if is_right else httpx2.Response(404)


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_recording_is_downloaded_from_the_clients_own_server(address: str) -> None:
    """The key is not sent to another host, whatever a webhook names."""
    http = httpx2.Client(transport=httpx2.MockTransport(respond))
    switchroom = Switchroom(base_url="https://voice.example", api_key="key", http=http)
    assert switchroom.recordings.download(address) == b"RIFF"


async def test_it_is_downloaded_with_asyncio() -> None:
    """A recording that does not exist is an error as elsewhere."""
    http = httpx2.AsyncClient(transport=httpx2.MockTransport(respond))
    switchroom = AsyncSwitchroom(base_url="https://voice.example", api_key="key", http=http)
    assert await switchroom.recordings.download(FILE) == b"RIFF"
    with pytest.raises(ApiError) as error:
        await switchroom.recordings.download(FILE.replace("v1", "v2"))
    assert error.value.status == 404


@pytest.mark.parametrize(
    "address", ["", "message.wav", "2026-11-26/c.wav", "https://voice.example", "/../../x"]
)
def test_what_is_no_address_of_a_recording_is_not_requested(address: str) -> None:
    """The error names the argument, and what is expected."""
    switchroom = Switchroom(base_url="https://voice.example", api_key="key")
    with pytest.raises(InvalidField):
        switchroom.recordings.download(address)
