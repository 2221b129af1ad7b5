"""A PBX whose configuration of SIP objects is changed over ARI, as Asterisk's is."""

import json
from typing import Any

from engine.ari.request import Reply, Request
from tests.harness.runtime.recording_pbx import RecordingPbx

OBJECTS = "asterisk/config/dynamic/res_pjsip/"
Fields = dict[str, str]
MULTIPLE = "password_digest"  # a field that a change adds to
TEMPLATES: dict[str, Fields] = {
    "endpoint/agent-template": {"webrtc": "no", "allow": "(ulaw)"},
    "aor/agent-template": {"max_contacts": "1"},
    "auth/agent-template": {"supported_algorithms_uas": "MD5"},
    "endpoint/browser-template": {"webrtc": "yes", "allow": "(ulaw)"},
    "aor/browser-template": {"max_contacts": "10"},
    "auth/browser-template": {"supported_algorithms_uas": "MD5"},
}


class ObjectPbx(RecordingPbx):
    """Keeps objects by `kind/name`; `changes` are the requests that changed them."""

    def __init__(self) -> None:
        super().__init__()
        self.objects = {name: dict(fields) for name, fields in TEMPLATES.items()}
        self.changes: list[str] = []
        self.started = "10:00"
        self.request_count = 0
        self.registered: dict[str, str] = {}  # the address of each AOR's phone
        self._leaving: set[str] = set()  # whose registrations end with the next change
        self.hidden: set[str] = set()  # what it does not show, as if it hung just then
        self._changes_left: int | None = None  # that it accepts

    def restart(self) -> None:
        """Lose the endpoints, which are in memory, and nothing else."""
        self.started = "11:00"
        for name in self._names("endpoint"):
            del self.objects[f"endpoint/{name}"]

    def fail_after(self, changes: int) -> None:
        """Accept some more changes, and then none."""
        self._changes_left = changes

    def recover(self) -> None:
        self._changes_left = None

    def logins(self, name: str) -> list[str]:
        """Return the auth objects of an endpoint that exist."""
        named = self.objects[f"endpoint/{name}"]["auth"].split(",")
        return [each for each in named if f"auth/{each}" in self.objects]

    async def ask(self, request: Request) -> Reply:
        """Show or change objects."""
        self.request_count += 1
        if request.path == "asterisk/info":
            status = {"startup_time": self.started, "last_reload_time": self.started}
            return Reply(200, json.dumps({"status": status}).encode())
        if request.path == "endpoints/PJSIP":
            return Reply(
                200, json.dumps([_listed(each) for each in self._names("endpoint")]).encode()
            )
        if not request.path.startswith(OBJECTS):
            return await super().ask(request)
        name = request.path.removeprefix(OBJECTS)
        if request.method == "GET" and name in self.hidden:
            return Reply(0)
        if request.method == "GET":
            return self._shown(name)
        if self._changes_left == 0:
            return Reply(0)
        if self._changes_left is not None:
            self._changes_left -= 1
        self.changes.append(f"{request.method} {name}")
        leaving, self._leaving = self._leaving, set()
        if request.method == "DELETE":
            self._leaving = {name}
            reply = Reply(204 if self.objects.pop(name, None) is not None else 404)
        else:
            self._change(name, (request.body or {})["fields"])
            reply = self._shown(name)
        for each in leaving:
            self.registered.pop(each.removeprefix("aor/"), None)
        return reply

    def _change(self, name: str, given: list[dict[str, str]]) -> None:
        fields = self.objects.setdefault(name, {})
        for each in given:
            attribute, value = each["attribute"], each["value"]
            if attribute == MULTIPLE and attribute in fields and value not in fields[attribute]:
                value = f"{fields[attribute]},{value}"
            elif attribute in {MULTIPLE, "contact"} and attribute in fields:
                value = fields[attribute]
            fields[attribute] = value
        kind, _, phone = name.partition("/")
        if kind == "aor" and phone in self.registered:
            fields["contact"] = self.registered[phone]  # stored, as if it were configured

    def _shown(self, name: str) -> Reply:
        if name not in self.objects:
            return Reply(404)
        fields = self.objects[name].items()
        shown = [{"attribute": attribute, "value": value[:127]} for attribute, value in fields]
        return Reply(200, json.dumps(shown).encode())

    def _names(self, kind: str) -> list[str]:
        names = (each.partition("/") for each in self.objects)
        return [name for found, _, name in names if found == kind and name.count("-template") == 0]


def _listed(name: str) -> dict[str, Any]:
    return {"technology": "PJSIP", "resource": name, "state": "offline", "channel_ids": []}
