"""Latency of a gather's webhook: from the event of the last digit to the customer's server."""

from tools.bench.engine.simulated import simulated
from tools.bench.engine.simulated_call import Script
from tools.bench.engine.simulated_calls import Load
from tools.bench.figure import Figure, figure, percentile
from tools.bench.setting import Setting

NUMBER = "+15550702"
RATE = 50
GATHERING = Script(NUMBER, prompts=1)


async def digit_webhook(setting: Setting) -> list[Figure]:
    """Make calls that collect four digits and then send a webhook; the commit is in between.

    The simulated PBX is also the customer's server: the time is from sending the event until the
    webhook arrives, by plain HTTP on a persistent connection.
    """
    seconds = 10 if setting.quick else 40
    async with simulated(setting.folder) as running:
        hook = f"{running.pbx.url}/simulated/webhook"
        gather = {"type": "gather", "data": {"maxDigits": 4}, "action": hook}
        prompt = {"audioUrl": f"{running.audio}/first.wav"}
        await running.route(NUMBER, {"type": "play", "data": prompt, "action": gather})
        await running.pbx.run(Load((GATHERING,), seconds=2, rate=RATE))
        result = await running.pbx.run(Load((GATHERING,), seconds=seconds, rate=RATE))
    waits = result.webhooks_ms
    return [
        figure("digit_webhook", "calls", result.calls, "calls"),
        figure("digit_webhook", "failures", result.calls - len(waits), "calls"),
        figure("digit_webhook", "p50", percentile(waits, 50), "ms"),
        figure("digit_webhook", "p99", percentile(waits, 99), "ms"),
        figure("digit_webhook", "latest", max(waits, default=float("nan")), "ms"),
    ]
