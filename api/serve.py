"""`switchroom api`: the service on its port until SIGTERM."""

import asyncio
import gc
import signal
from contextlib import AsyncExitStack

import uvicorn

from api.accounts.bootstrap import create_configured_account
from api.app import create_app, open_services
from api.cdrs.ingest.consumer import EventConsumer, consumer_name, run_consumer
from api.config import Settings
from api.db.migrate import migrate
from api.http.header_limits import HeaderLimits
from api.jobs.cleanup import run_cleanup
from api.jobs.worker import run_worker
from api.policy_sync.sync import run_policy_sync


async def serve(settings: Settings) -> None:
    """Bring the database up to date, make the account that the settings name, and serve."""
    async with AsyncExitStack() as house:
        parts = await house.enter_async_context(open_services(settings))
        await migrate(parts.database)
        await create_configured_account(parts.accounts, parts.keys, settings)
        # None waits for another.
        for handlers in (parts.cdrs.jobs, parts.lists.jobs, parts.contacts.jobs):
            await house.enter_async_context(run_worker(parts.jobs, handlers, parts.metrics))
        name = consumer_name(settings.api_port)
        await house.enter_async_context(
            run_consumer(EventConsumer(parts.engine, parts.database, name))
        )
        await house.enter_async_context(run_policy_sync(parts.policy_sync))
        await house.enter_async_context(run_cleanup(parts.idempotency))
        app = create_app(parts)
        _quiet_garbage_collector()
        await _served(server(settings, app))


def _quiet_garbage_collector() -> None:
    """Look for cycles seldom: a look at all that is loaded takes a tenth of a second."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


async def _served(running: uvicorn.Server) -> None:
    """Serve until a signal; then all else is closed in good order, too.

    uvicorn raises the signal again when it has ended: without a handler that would end the process
    there and then.
    """
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, setattr, running, "should_exit", True)
    await running.serve()


def server(
    settings: Settings, app: object, heads: type[HeaderLimits] = HeaderLimits
) -> uvicorn.Server:
    """Make the HTTP server of an application."""
    return uvicorn.Server(
        uvicorn.Config(
            app,  # type: ignore[arg-type]  # an ASGI application
            host=settings.api_host,
            port=settings.api_port,
            loop="none",  # it runs already
            http=heads,
            lifespan="off",
            access_log=False,
            log_config=None,
            server_header=False,
            forwarded_allow_ips=list(map(str, settings.api_proxies)),
            timeout_graceful_shutdown=10,
        )
    )
