"""A channel that enters the engine from a PBX node's dialplan."""

from msgspec import Struct

from engine.runtime.agents.directory import Caller


class IncomingChannel(Struct, frozen=True):
    """A new inbound channel, as its StasisStart event describes it."""

    channel: str
    from_: str
    to: str
    is_up: bool = False  # already answered: by an earlier engine that lost the call
    endpoint: str = ""  # of the caller
    agent: Caller = Caller()  # the agent at that endpoint
