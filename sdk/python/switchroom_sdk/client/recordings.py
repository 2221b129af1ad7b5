"""The audio of recordings, by the addresses that events, webhooks, records and lists have."""

from urllib.parse import unquote, urlsplit

from switchroom_sdk.client.request import Request
from switchroom_sdk.errors import InvalidField
from switchroom_sdk.generated import async_resources, resources

_PARTS = 3  # account, day and file, in the address of every recording


class Recordings(resources.Recordings):
    """Operations on recordings, with their audio."""

    def download(self, recording: str) -> bytes:
        """Return the WAV file of a recording.

        Arguments:
            recording: Its address, such as the `recording_url` of a webhook or the `url` of a list.
                The file is always requested from this client's server, wherever the address is.
        """
        return self._client.send(download_request(recording), bytes)


class AsyncRecordings(async_resources.Recordings):
    """Operations on recordings, with their audio."""

    async def download(self, recording: str) -> bytes:
        """Return the WAV file of a recording.

        Arguments:
            recording: Its address, such as the `recording_url` of a webhook or the `url` of a list.
                The file is always requested from this client's server, wherever the address is.
        """
        return await self._client.send(download_request(recording), bytes)


def download_request(recording: str) -> Request:
    """Return the request for a recording; raises InvalidField."""
    parts = urlsplit(recording).path.rsplit("/", _PARTS)[1:]
    if len(parts) != _PARTS or not all(parts):
        raise InvalidField("recording", "expected an address that ends with account, day and file")
    return Request("GET", ("srmain", "recordings", "files", *map(unquote, parts)))
