"""Transfer and conference requests for the call of `Parties`."""

from typing import Any

from tests.harness.phones.parties import Parties, View
from tests.harness.until import until

RINGS_S = 300  # a target rings until the test goes on


class Transfer:
    """A transfer of the customer from the source to the target."""

    def __init__(self, parties: Parties) -> None:
        self._parties = parties
        self.id = ""

    async def start(self, mode: str = "attended", **more: object) -> View:
        """Request the transfer and return its view."""
        parties = self._parties
        body = {
            "transferMode": mode,
            "customerChannelId": await parties.leg("customer"),
            "sourceChannelId": await parties.leg("source"),
            "target": {"kind": "number", "number": parties["target"].address},
            "timeout": RINGS_S,
        }
        view = await parties.control("transfers", **{**body, **more})
        self.id = view["transferSessionId"]
        return view

    async def complete(self) -> View:
        """Complete the transfer."""
        body = {"completedByAgentId": "ada", "reason": "manual_complete"}
        return await self._parties.control(f"transfers/{self.id}/complete", **body)

    async def cancel(self) -> View:
        """Cancel the transfer."""
        body = {"cancelledByAgentId": "ada", "reason": "source_cancel"}
        return await self._parties.control(f"transfers/{self.id}/cancel", **body)

    async def wait_for_ringback(self) -> None:
        """Wait until the target rings and the engine has the state."""
        await self._parties["target"].wait_ringing()
        await self.wait_for_state("ringback")

    async def wait_for_state(self, state: str, reason: str = "") -> None:
        """Wait for a state."""
        seen: View = {}

        async def is_reached() -> bool:
            path = f"/calls/{self._parties.call}/transfers/{self.id}"
            seen.update(await self._parties.lab.engine.rpc("GET", path))
            return (seen["state"], seen.get("reason", "")) == (state, reason)

        await until(is_reached, what=f"the transfer to be {state} {reason}")


class Conference:
    """A conference that the source requests."""

    def __init__(self, parties: Parties) -> None:
        self._parties = parties
        self.id = ""

    async def add(self, name: str, **more: object) -> View:
        """Add a party and return the view."""
        address = self._parties[name].address
        own = {"requestedByAgentId": "ada", "targetExternalNumber": address, "timeout": RINGS_S}
        body = {**own, **more}
        view = await self._parties.control("conference/members", **body)
        self.id = view["conferenceSessionId"]
        return view

    async def kick(self, name: str) -> View:
        """Kick a party."""
        return await self.request(
            "kick", requesterAgentId="ada", targetChannelId=await self._leg(name)
        )

    async def leave(self, name: str) -> View:
        return await self.request("leave", agentId="ada", channelId=await self._leg(name))

    async def coach(self, name: str, coached: str | None) -> View:
        """Let only one other party hear this one, or all with None."""
        other = {"coachedChannelId": await self._leg(coached)} if coached else {}
        return await self.request("coach", channelId=await self._leg(name), **other)

    async def view(self) -> View:
        path = f"/calls/{self._parties.call}/conference/members"
        return await self._parties.lab.engine.rpc("GET", path)

    async def wait_for_state(self, state: str) -> None:
        """Wait for a state."""

        async def is_reached() -> bool:
            return bool((await self.view())["state"] == state)

        await until(is_reached, what=f"the conference to be {state}")

    async def _leg(self, name: str) -> str:
        return await self._parties.leg(name)

    async def request(self, path: str, **body: Any) -> View:
        """Send a request for the conference."""
        body = {"conferenceSessionId": self.id, **body}
        return await self._parties.control(f"conference/{path}", **body)


def all_hear_all(*names: str, silent: str = "") -> dict[str, str]:
    """Return the expected audio when all hear all others, except the one who is silent."""
    return {name: " ".join(each for each in names if each not in {name, silent}) for name in names}


async def start_ringing(parties: Parties, mode: str = "attended", **more: object) -> Transfer:
    """Start a transfer of connected parties and wait until the target rings."""
    await parties.add_phone("target", picks_up=False)
    transfer = Transfer(parties)
    await transfer.start(mode, **more)
    await transfer.wait_for_ringback()
    return transfer
