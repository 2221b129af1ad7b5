"""Flow graphs for half of the worlds: a lookup, a menu, dials, loops and a nested flow."""

import json
import random
from typing import Any

from tests.harness.scenarios.scenario import DELAYS_MS, FLOWS, PROMPTS_MS

API = "0123456789abcdef01234567"


def choose(seed: int) -> dict[str, bytes]:
    """Return graphs that replace some flows, by flow id; none in every other world."""
    rng = random.Random(f"graphs {seed}")
    if rng.random() < 0.5:
        return {}
    wanted = rng.sample(range(FLOWS), rng.choice((1, FLOWS)))
    return {f"flow{number}": json.dumps(graph(rng)).encode() for number in wanted}


def graph(rng: random.Random) -> dict[str, Any]:
    """Return a random flow that passes every check."""
    return {"name": "sim", "start": "welcome", "nodes": {**_lookup(rng), **_menu(rng)}}


def _lookup(rng: random.Random) -> dict[str, Any]:
    case = {
        "variable": "answers.lookup.tier",
        "value": "gold",
        "next": rng.choice(("sales", "menu")),
    }
    data = {"requestId": API, "moh": {"enable": rng.random() < 0.3}}
    return {
        "welcome": {**_play(rng), "next": "lookup"},
        "lookup": {"type": "request", "data": data, "success": "known", "failure": "sorry"},
        "known": {"type": "condition", "cases": [case], "else": "menu"},
        "sorry": {
            "type": "set",
            "variables": {"why": "{{answers.lookup.reason}}", "n": 1},
            "next": "menu",
        },
    }


def _menu(rng: random.Random) -> dict[str, Any]:
    data = {"audioUrl": _audio(rng), "timeout": rng.choice((500, 2_000)), "digitTimeout": 300}
    branches = {"1": "sales", "2": "leave", "3": "within", "42": "lookup"}
    again = {"type": "goto", "node": "menu", "limit": rng.choice((1, 3))}
    return {
        "menu": {
            "type": "menu",
            "data": data,
            "branches": branches,
            "noInput": "again",
            "invalid": "again",
        },
        "again": {**again, "next": "bye"} if rng.random() < 0.7 else again,
        "sales": {
            "type": "dial",
            "data": {"number": "+47123456", "timeLimit": rng.choice((1, 5))},
            "timeout": rng.choice((1, 5)),
            "next": rng.choice(("menu", "bye")),
        },
        "leave": {"type": "record", "data": {"maxLength": 2, "silence": 1}, "next": "bye"},
        "within": {
            "type": "flow",
            "data": {"flowId": f"flow{rng.randrange(FLOWS)}"},
            "next": "bye",
        },
        "bye": _play(rng),
    }


def _play(rng: random.Random) -> dict[str, Any]:
    return {"type": "play", "data": {"audioUrl": _audio(rng)}}


def _audio(rng: random.Random) -> str:
    return f"https://audio/{rng.choice(PROMPTS_MS)}/{rng.choice(DELAYS_MS)}/ok"
