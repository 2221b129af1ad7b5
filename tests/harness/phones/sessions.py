"""What people ask of a crowd's call: transfers and conferences, parties by their names."""

from typing import Any

from tests.harness.phones.parties import Parties, View
from tests.harness.until import until


class Transfer:
    """A transfer of the customer from the source to the target."""

    def __init__(self, parties: Parties) -> None:
        self._parties = parties
        self.id = ""

    async def start(self, mode: str = "attended", **more: object) -> View:
        """Begin it."""
        parties = self._parties
        asked = {
            "transferMode": mode,
            "customerChannelId": await parties.leg("customer"),
            "sourceChannelId": await parties.leg("source"),
            "target": {"kind": "number", "number": parties["target"].address},
        }
        view = await parties.control("transfers", **{**asked, **more})
        self.id = view["transferSessionId"]
        return view

    async def complete(self) -> View:
        """Leave the source out."""
        asked = {"completedByAgentId": "ada", "reason": "manual_complete"}
        return await self._parties.control(f"transfers/{self.id}/complete", **asked)

    async def cancel(self) -> View:
        """Bring the customer back."""
        asked = {"cancelledByAgentId": "ada", "reason": "source_cancel"}
        return await self._parties.control(f"transfers/{self.id}/cancel", **asked)

    async def wait_for_state(self, state: str, reason: str = "") -> None:
        """Wait for a state."""
        seen: View = {}

        async def is_so() -> bool:
            path = f"/calls/{self._parties.call}/transfers/{self.id}"
            seen.update(await self._parties.lab.engine.rpc("GET", path))
            return (seen["state"], seen.get("reason", "")) == (state, reason)

        await until(is_so, what=f"the transfer to be {state} {reason}")


class Conference:
    """A conference of the crowd, asked for by the source."""

    def __init__(self, parties: Parties) -> None:
        self._parties = parties
        self.id = ""

    async def add(self, name: str, **more: object) -> View:
        """Call a party in."""
        address = self._parties[name].address
        asked = {"requestedByAgentId": "ada", "targetExternalNumber": address, **more}
        view = await self._parties.control("conference/members", **asked)
        self.id = view["conferenceSessionId"]
        return view

    async def kick(self, name: str) -> View:
        """Put a party out."""
        return await self.request(
            "kick", requesterAgentId="ada", targetChannelId=await self._leg(name)
        )

    async def leave(self, name: str) -> View:
        """Let a party leave."""
        return await self.request("leave", agentId="ada", channelId=await self._leg(name))

    async def coach(self, name: str, coached: str | None) -> View:
        """Let a party be heard by one other only, or by all again."""
        other = {"coachedChannelId": await self._leg(coached)} if coached else {}
        return await self.request("coach", channelId=await self._leg(name), **other)

    async def view(self) -> View:
        """Show it."""
        path = f"/calls/{self._parties.call}/conference/members"
        return await self._parties.lab.engine.rpc("GET", path)

    async def wait_for_state(self, state: str) -> None:
        """Wait for a state."""

        async def is_so() -> bool:
            return bool((await self.view())["state"] == state)

        await until(is_so, what=f"the conference to be {state}")

    async def _leg(self, name: str) -> str:
        return await self._parties.leg(name)

    async def request(self, path: str, **asked: Any) -> View:
        """Ask something of it."""
        asked = {"conferenceSessionId": self.id, **asked}
        return await self._parties.control(f"conference/{path}", **asked)


def all_hear_all(*names: str, silent: str = "") -> dict[str, str]:
    """Say what each of some hears when all hear all others, but not who is silent."""
    return {name: " ".join(each for each in names if each not in {name, silent}) for name in names}
