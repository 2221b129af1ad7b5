"""Runs of scripts: the violations that the checks find in a scripted world."""

from tests.sim.call_histories import CallHistory, call_histories
from tests.sim.checks import find_violations
from tests.sim.engine_log import silenced_log
from tests.sim.engine_run import SHARD, PartOverrides
from tests.sim.planted.script import Script, ScriptedWorld


def run_script(script: Script, overrides: PartOverrides) -> tuple[ScriptedWorld, list[CallHistory]]:
    """Run a script; return its world and its call."""
    with silenced_log():
        world = ScriptedWorld(script, overrides)
        world.run()
        return world, list(call_histories(world.memory, SHARD))


def violations_in_script(script: Script, overrides: PartOverrides) -> list[str]:
    """Run a script and return what the checks find."""
    world, histories = run_script(script, overrides)
    return [message for _, message in find_violations(world, histories)]
