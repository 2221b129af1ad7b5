"""A manager interface over HTTP with scripted responses."""

from aiohttp import web


class Manager:
    """A manager interface with scripted responses."""

    def __init__(self) -> None:
        self.forms: list[dict[str, str]] = []
        self.status = 200
        self.text = "Response: Success\r\nMixMonitorID: 0x7f\r\n\r\n"

    async def answer(self, request: web.Request) -> web.Response:
        """Respond to an action."""
        if self.status == 0:
            assert request.transport is not None
            request.transport.close()
        self.forms.append({name: str(value) for name, value in (await request.post()).items()})
        return web.Response(status=self.status or 200, text=self.text)
