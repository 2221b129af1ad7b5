"""Endpoints of a PBX that a test registers and unregisters."""

import msgspec

from engine.ari.request import Reply, Request
from engine.runtime.agents.registered_endpoints import (
    APP,
)

SUBSCRIBE = f"applications/{APP}/subscription"


class Endpoints:
    """A PBX with endpoints, which keeps an app's subscriptions."""

    def __init__(self) -> None:
        self.keeps_order = True
        self.states = {"1001": "online", "1002": "offline", "trunk": "online"}
        self.subscribed: list[str] = []
        self.requests: list[str] = []
        self.is_up = True
        self.fails = False

    async def ask(self, request: Request) -> Reply:
        """Reply as Asterisk does."""
        self.requests.append(request.path)
        if not self.is_up:
            return Reply(0)
        if self.fails:
            self.fails = False
            raise ZeroDivisionError
        match request.method, request.path:
            case "GET", "endpoints/PJSIP":
                return Reply(200, msgspec.json.encode([*map(self._endpoint, self.states)]))
            case "POST", path if path == SUBSCRIBE:
                sources = dict(request.query)["eventSource"].split(",")
                self.subscribed += [each.removeprefix("endpoint:") for each in sources]
        return Reply(200, msgspec.json.encode({"name": APP, "endpoint_ids": self.subscribed}))

    def send(self, request: Request, key: str, may_block: bool, done: object) -> None:
        """Fail: presence only queries."""
        raise AssertionError(request, key, may_block, done)

    def _endpoint(self, name: str) -> dict[str, object]:
        state = self.states[name]
        return {"technology": "PJSIP", "resource": name, "state": state, "channel_ids": []}
