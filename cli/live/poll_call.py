"""Follows one call to its end over REST: its states are printed as they change."""

import asyncio
import time

from rich.console import Console

from cli.calls import Calls
from cli.errors import RpcError, Unreachable, is_transient
from cli.timeline import wording
from wire.views import CallView

POLL_INTERVAL_S = 0.5
UNREACHABLE_TIMEOUT_S = 60.0


async def follow_states(calls: Calls, call_id: str, console: Console) -> CallView:
    """Print each new state of a call until it ends; raises Unreachable after a minute without."""
    shown, reached_s = "", time.monotonic()
    while True:
        try:
            view = await calls.call(call_id)
        except (Unreachable, RpcError) as error:
            if not is_transient(error) or time.monotonic() - reached_s > UNREACHABLE_TIMEOUT_S:
                raise
        else:
            reached_s = time.monotonic()
            if (text := _state(view)) != shown:
                shown = text
                age = wording.seconds(time.time() * 1000 - view.created_ms)
                console.print(f"{age:>8}  {text}", soft_wrap=True, markup=False)
            if view.ended_ms:
                return view
        await asyncio.sleep(POLL_INTERVAL_S)


def _state(view: CallView) -> str:
    verb = f" ({view.verb})" if view.verb else ""
    return f"{view.status}, {view.state}{verb}, {len(view.legs)} legs"
