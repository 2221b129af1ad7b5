"""Documents of accounts from a folder, which is then their only writer.

`ACCOUNT/KIND/ID.json`: each file is checked as the RPC checks a document. One that is invalid is
logged and changes nothing; a document without a file is deleted (docs/operations/documents.md).
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import structlog
from msgspec import Meta, Struct

from engine.rpc.flow_checks import FlowChecks
from engine.rpc.handlers.callbacks import CallbackHandlers
from engine.rpc.handlers.document_checks import DocumentChecks
from engine.rpc.handlers.documents import DocumentHandlers
from engine.rpc.server import ServerDependencies
from engine.runtime.agents.agent_documents import AgentDocuments
from engine.runtime.agents.phone_credentials import digest_credentials
from engine.store.errors import StoreDown
from engine.store.store import Store
from engine.store.versioned_documents import VersionedDocument
from wire.agents import Agent, AgentPassword, phone_name
from wire.callbacks.account import PutCallback
from wire.callbacks.settings import CallbackSettings
from wire.decoding import lenient
from wire.decoding.errors import BadInput, errors_in
from wire.decoding.json_errors import read_json
from wire.decoding.messages import decode_message
from wire.decoding.patterns import NAME
from wire.documents.versioned import CALLBACK_ID, KINDS, DocumentKind, FlowState
from wire.phone_numbers.e164 import normalized
from wire.request import ApiRequest
from wire.rpc import NumberRoute

log = structlog.get_logger()
POLL_INTERVAL_S = 1.0
_DEFAULT = "default"  # names the file of the default route (`*`), and of callback settings


class _CallbackFile(PutCallback, frozen=True, kw_only=True):
    """Callback settings with the secret that signs, which a customer has."""

    secret: Annotated[str, Meta(pattern=r"^whsec_[A-Za-z0-9+/]{32,86}={0,2}$")]


class _File(Struct, frozen=True):
    """A file below the folder: what it is, and when it was written."""

    path: Path
    account: str
    kind: str
    name: str
    stamp: tuple[int, int]  # its time in ns, and its size

    @property
    def written_ms(self) -> int:
        return self.stamp[0] // 1_000_000


class DocumentFolder:
    """Writes what has changed in the folder, and everything if the store has lost documents."""

    def __init__(
        self,
        folder: Path,
        store: Store,
        documents: DocumentHandlers,
        checks: DocumentChecks,
        callbacks: CallbackHandlers,
    ) -> None:
        self._folder = folder
        self._store = store
        self._documents = documents
        self._checks = checks
        self._callbacks = callbacks
        self._seen: list[_File] | None = None
        self._accounts = set[str]()  # also those whose files were removed
        self._written = dict[str, set[DocumentKind]]()

    @classmethod
    def open(cls, folder: Path, parts: ServerDependencies) -> "DocumentFolder":
        """Create one with the parts that an engine's RPC checks and stores documents with."""
        store, targets = parts.store, parts.account_settings
        agents = AgentDocuments(store, parts.agent_presence.directory)
        return cls(
            folder,
            store,
            DocumentHandlers(store, agents),
            DocumentChecks(store, parts.limits, FlowChecks(), parts.dial_policy),
            CallbackHandlers(store, targets, parts.limits, parts.callback_tester),
        )

    async def run(self) -> None:
        """Compare folder and store at intervals, until cancelled."""
        while True:
            try:
                await self.poll()
            except (OSError, StoreDown) as error:
                log.warning("documents of the folder not stored", reason=str(error))
            await asyncio.sleep(POLL_INTERVAL_S)

    async def poll(self) -> None:
        """Write what has changed, if anything has; raises OSError and StoreDown."""
        files = await asyncio.to_thread(_scan, self._folder)
        if files == self._seen and not await self._has_lost():
            return
        self._accounts |= {each.account for each in files}
        passwords = dict[str, dict[str, bytes]]()
        for kind in KINDS:
            for account in sorted(self._accounts):
                of = [each for each in files if (each.account, each.kind) == (account, kind)]
                await self._write(account, kind, of, passwords.setdefault(account, {}))
        self._seen = files

    async def _has_lost(self) -> bool:
        accounts = sorted(self._written)
        sums = await self._store.documents.checksums(accounts)
        pairs = zip(accounts, sums, strict=True)
        return any(self._written[account] - found.keys() for account, found in pairs)

    async def _write(
        self,
        account: str,
        kind: DocumentKind,
        files: Sequence[_File],
        phones: dict[str, bytes],
    ) -> None:
        """Store the documents of an account that differ, and delete those without a file."""
        known = await self._store.documents.versions(account, kind)
        wanted = dict[str, bytes | None](phones) if kind == "phone" else {}
        refused = set[str]()
        for file in files:
            doc_id = _id(file)
            try:
                wanted[doc_id] = await self._checked(file, doc_id, phones)
            except BadInput as error:
                refused.add(doc_id)
                if kind == "agent":
                    phones |= await self._stored_phone(account, doc_id)
                for each in errors_in(error):
                    log.error(  # noqa: TRY400 - no bug
                        "document file refused",
                        file=str(file.path),
                        field=each.path,
                        reason=each.message,
                    )
        stored = await self._stored(account, kind, [*wanted])
        changes = {name: body for name, body in wanted.items() if body != stored.get(name)}
        changes |= dict.fromkeys(known.keys() - wanted.keys() - refused)
        await self._put(account, kind, known, changes)
        if wanted:
            self._written.setdefault(account, set()).add(kind)
        else:
            self._written.get(account, set()).discard(kind)

    async def _put(
        self,
        account: str,
        kind: DocumentKind,
        known: Mapping[str, int],
        changes: Mapping[str, bytes | None],
    ) -> None:
        now_ms, documents = await self._store.time_ms(), list[VersionedDocument]()
        for doc_id, changed in changes.items():
            body = changed
            if kind == "flow" and body is not None:
                body = await self._put_flow_version(account, doc_id, body, now_ms)
            version = max(known.get(doc_id, 0) + 1, now_ms)
            documents.append(VersionedDocument(doc_id, version, body))
        if not documents:
            return
        stored = await self._documents.write(account, kind, documents)
        for each, version in zip(documents, stored, strict=True):
            if version == each.version:
                log.info("document stored", account=account, kind=kind, id=each.id)
            else:
                log.error("document not stored", account=account, kind=kind, id=each.id)

    async def _put_flow_version(
        self, account: str, flow_id: str, body: bytes, now_ms: int
    ) -> bytes:
        """Store the next version of a flow; return the flow's document.

        A flow that was deleted begins with a number that no live call runs.
        """
        before = await self._store.flow(account, flow_id)
        number = before[0] + 1 if before else now_ms // 1000
        await self._store.documents.put_flow_version(account, flow_id, number, body)
        return msgspec.json.encode(FlowState(number, number))

    async def _stored(
        self, account: str, kind: DocumentKind, names: Sequence[str]
    ) -> Mapping[str, bytes]:
        if kind != "flow":
            return await self._store.documents.read(account, kind, names)
        flows = {each: await self._store.flow(account, each) for each in names}
        return {name: found[1] for name, found in flows.items() if found}

    async def _stored_phone(self, account: str, agent_id: str) -> Mapping[str, bytes]:
        """Return the credentials of an agent as it is stored, by the name of its phone."""
        before = await self._store.agent(account, agent_id)
        name = phone_name(decode_message(before, Agent).endpoint) if before else ""
        return await self._store.documents.read(account, "phone", [name])

    async def _checked(self, file: _File, doc_id: str, phones: dict[str, bytes]) -> bytes:
        """Return the document of a file; raises BadInput. An agent's password goes to `phones`."""
        account, body = file.account, await asyncio.to_thread(file.path.read_bytes)
        match file.kind:
            case "flow":
                await self._checks.check_flow(account, doc_id, body)
                return body
            case "request":
                await self._checks.check_request(account, doc_id, body)
                return msgspec.json.encode(lenient.decode(body, ApiRequest))
            case "route":
                given = {**_fields(body), "account": account}
                route = lenient.decode(msgspec.json.encode(given), NumberRoute)
                await self._checks.check_route(route)
                return msgspec.json.encode(route)
            case "agent":
                fields = _fields(body)
                password = fields.pop("password", None)
                agent = lenient.decode(msgspec.json.encode(fields), Agent)
                if password is not None:
                    phones |= _phone(account, doc_id, agent, password)
                return msgspec.json.encode(agent)
            case _:
                return await self._callback(file, body)

    async def _callback(self, file: _File, body: bytes) -> bytes:
        given = lenient.decode(body, _CallbackFile)
        await self._callbacks.check_target(file.account, given.target)
        at_ms = file.written_ms
        settings = CallbackSettings(
            given.secret, at_ms, given.target, given.concurrency, given.per_s, put_ms=at_ms
        )
        return msgspec.json.encode(settings)


def _scan(folder: Path) -> list[_File]:
    """Return the files of documents, with the time and size of each."""
    found = list[_File]()
    for path in sorted(folder.glob("*/*/*.json")):
        account, kind = path.parts[-3:-1]
        status = path.stat()
        stamp = (status.st_mtime_ns, status.st_size)
        if re.search(NAME, account) and kind in KINDS and kind != "phone":
            found.append(_File(path, account, kind, path.stem, stamp))
    return found


def _id(file: _File) -> str:
    match file.kind:
        case "route":
            return "*" if file.name == _DEFAULT else normalized(file.name)
        case "request":
            return file.name.lower()
        case "callback":
            return CALLBACK_ID
        case _:
            return file.name


def _fields(body: bytes) -> dict[str, Any]:
    document = read_json(body)
    if not isinstance(document, dict):
        raise BadInput("", "expected an object")
    return document


def _phone(account: str, agent_id: str, agent: Agent, password: object) -> dict[str, bytes]:
    """Return the credentials of an agent's phone, by its name."""
    given = lenient.decode(msgspec.json.encode({"password": password}), AgentPassword)
    made = digest_credentials(account, agent_id, agent.endpoint, agent.name, given.password)
    credentials = msgspec.structs.replace(made, kind=agent.phone)
    return {phone_name(agent.endpoint): msgspec.json.encode(credentials)}
