"""A conversation to control over the RPC: a customer on the main leg, and an agent."""

from typing import Any

from msgspec import Struct

from engine.calls.model.events import LegAnswered, LegCreated, LegEnded, LegRinging
from tests.harness.rpc.scene import RpcScene, end, inject
from tests.harness.until import until

AGENT = "1001"
DIAL = {"type": "dial", "data": {"agent_id": AGENT}}


class Conversation(Struct, frozen=True):
    """A call in which a customer talks to agent 1001."""

    scene: RpcScene
    call: str

    @property
    def customer(self) -> str:
        """The customer's channel."""
        return f"{self.call}.l0"

    @property
    def agent(self) -> str:
        """The agent's channel."""
        return f"{self.call}.l1"

    async def post(self, path: str, **body: Any) -> tuple[int, Any]:
        """Send a request for the call."""
        return await self.scene.request("POST", f"/calls/{self.call}/{path}", body)

    async def posted(self, path: str, **body: Any) -> Any:
        """Send a request for the call that must succeed; return the response."""
        status, answer = await self.post(path, **body)
        assert status == 200, answer
        return answer

    async def refused(self, path: str, **body: Any) -> tuple[int, str]:
        """Send a request for the call that must fail; return status and code."""
        return await self.scene.problem("POST", f"/calls/{self.call}/{path}", body)

    async def shown(self, path: str = "") -> Any:
        """Return the view of the call, or of a part of it."""
        status, answer = await self.scene.request("GET", f"/calls/{self.call}{path}")
        assert status == 200, answer
        return answer

    def rings(self, leg: str) -> None:
        """Let a leg's phone ring."""
        inject(self.scene, LegCreated(leg))
        inject(self.scene, LegRinging(leg))

    def answers(self, leg: str) -> None:
        """Let a leg be answered."""
        inject(self.scene, LegCreated(leg))
        inject(self.scene, LegAnswered(leg))

    def leaves(self, leg: str) -> None:
        """Let a leg hang up."""
        inject(self.scene, LegEnded(leg, 16))

    async def ends(self) -> None:
        """End the call by the customer's hangup, and wait until it is stored as ended."""
        end(self.scene, self.call)
        found = self.scene.service.find(self.call)
        for leg in found[1].call.legs if found else ():
            self.leaves(leg.id)
        await until(lambda: self.scene.service.find(self.call) is None)
        await until(self._is_stored_over)

    async def does(self, line: str) -> None:
        """Wait until the PBX gets a request whose line begins with `line`."""

        def is_sent() -> bool:
            self.scene.pbx.settle()
            return any(each.startswith(line) for each in self.scene.pbx.lines)

        await until(is_sent, what=line)

    async def _is_stored_over(self) -> bool:
        call = await self.scene.service.read(self.call)
        return call is not None and call.is_ended


async def talking(scene: RpcScene, **more: Any) -> Conversation:
    """Start a call and connect customer and agent."""
    conversation = Conversation(scene, await scene.start_call(action=DIAL, **more))
    conversation.answers(conversation.customer)
    conversation.answers(conversation.agent)
    return conversation
