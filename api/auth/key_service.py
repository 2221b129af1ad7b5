"""API keys of an account, managed by the account itself.

No key can make one that may do more: not in scopes, not from other networks, not for another agent,
and not for longer.
"""

from collections.abc import Sequence
from ipaddress import ip_network

from msgspec import Struct

from api.auth import schemas
from api.auth.key_store import ApiKey, KeyStore, KeyTerms, generate_credentials
from api.auth.principal import BUNDLES, OPERATIONS, SCOPES, Principal, resolve, unknown_scopes
from api.common.clock import Clock
from api.common.errors import Forbidden, NotFound
from api.common.timestamps import format_ms
from wire.decoding.errors import BadInput, ErrorCollector

DAY_MS = 86_400_000


class KeyService(Struct, frozen=True):
    keys: KeyStore
    now_ms: Clock
    max_keys: int  # of an account, that have not expired

    async def create(self, user: Principal, body: schemas.NewKey) -> schemas.CreatedKey:
        """Create a key; raises Forbidden for what the caller's own key lacks."""
        _check_no_agent(user)
        collector = ErrorCollector()
        with collector.check():
            _check_scopes(body.scopes, body.agent_id)
        for place, network in enumerate(body.networks):
            with collector.check():
                _check_network(network, f"networks[{place}]")
        collector.raise_all()
        expires_ms = None if body.days is None else self.now_ms() + body.days * DAY_MS
        terms = KeyTerms(body.agent_id, body.scopes, body.networks, expires_ms)
        await self._check_terms(user, terms)
        credentials = generate_credentials()
        key_id = await self.keys.add(user.account_id, credentials, terms, self.max_keys)
        return schemas.created_key(key_id, credentials)

    async def list(self, user: Principal) -> schemas.KeyPage:
        _check_no_agent(user)
        now_ms = self.now_ms()
        found = tuple(
            schemas.key_view(each, now_ms) for each in await self.keys.all(user.account_id)
        )
        return schemas.KeyPage(found, len(found))

    async def rotate(
        self, user: Principal, key_id: str, body: schemas.RotateKey
    ) -> schemas.CreatedKey:
        """Create a replacement with the key's rights; raises NotFound, Forbidden and Conflict."""
        _check_no_agent(user)
        replaced = await self._get(user, key_id)
        expires_ms = None if body.days is None else self.now_ms() + body.days * DAY_MS
        terms = KeyTerms(
            replaced.agent_id, replaced.scopes, replaced.networks, expires_ms or replaced.expires_ms
        )
        await self._check_terms(user, terms)
        credentials, overlap_ms = generate_credentials(), body.overlap_s * 1_000
        new = await self.keys.rotate(
            user.account_id, key_id, credentials, overlap_ms, expires_ms, self.max_keys
        )
        return schemas.created_key(new, credentials)

    async def revoke(self, user: Principal, key_id: str) -> schemas.KeyView:
        """Revoke a key and its tokens; raises NotFound."""
        _check_no_agent(user)
        await self._get(user, key_id)
        await self.keys.expire(user.account_id, key_id, self.now_ms())
        return schemas.key_view(await self._get(user, key_id), self.now_ms())

    async def _check_terms(self, user: Principal, terms: KeyTerms) -> None:
        """Raise Forbidden if a key of these terms could do what the caller's own cannot."""
        _check_granted(user, terms.granted)
        own = await self.keys.get(user.key_id)
        if own is None:
            raise Forbidden("the key of this token does not exist any more", "no_key")
        _check_networks(own, terms.networks)
        self._check_expiry(own, terms.expires_ms)

    def _check_expiry(self, own: ApiKey, expires_ms: int | None) -> None:
        if own.expires_ms is None or (expires_ms is not None and expires_ms <= own.expires_ms):
            return
        days = max(own.expires_ms - self.now_ms(), 0) // DAY_MS
        allowed = f"at most {days}" if days else "it has less than a day left"
        text = f"this key or token ends at {format_ms(own.expires_ms)}, and so does a key of it"
        raise Forbidden(f"days: {text}: {allowed}", "expiry")

    async def _get(self, user: Principal, key_id: str) -> ApiKey:
        found = await self.keys.get(key_id) if key_id.isprintable() else None
        if found is None or found.account_id != user.account_id:
            raise NotFound(f"no key {key_id}")
        return found


def _check_no_agent(user: Principal) -> None:
    if user.agent_id is not None:
        raise Forbidden("an agent's token manages no keys", "agent")


def _check_granted(user: Principal, names: Sequence[str]) -> None:
    if missing := sorted(resolve(names) - user.scopes):
        raise Forbidden(f"scopes: this key or token lacks {', '.join(missing)} itself", "scope")


def _check_networks(own: ApiKey, networks: Sequence[str]) -> None:
    """Raise Forbidden if the caller's key could not be used from all these networks."""
    allowed = own.networks
    if allowed and not (networks and all(_is_within(each, allowed) for each in networks)):
        text = f"this key or token is limited to {', '.join(allowed)}"
        raise Forbidden(f"networks: {text}, and so is a key that it makes", "networks")


def _check_scopes(names: Sequence[str], agent_id: str | None) -> None:
    if unknown := unknown_scopes(names):
        place = names.index(unknown[0])
        raise BadInput(f"scopes[{place}]", f"expected one of {', '.join((*BUNDLES, *SCOPES))}")
    if agent_id is not None and OPERATIONS in names:
        place = names.index(OPERATIONS)
        raise BadInput(f"scopes[{place}]", "expected no scope of operators in an agent's key")


def _is_within(network: str, allowed: Sequence[str]) -> bool:
    inner = ip_network(network)
    outers = map(ip_network, allowed)
    return any(
        inner.subnet_of(outer)  # type: ignore[arg-type]  # both of the same version
        for outer in outers
        if inner.version == outer.version
    )


def _check_network(text: str, path: str) -> None:
    try:
        ip_network(text)
    except ValueError:
        raise BadInput(path, "expected a network such as 192.0.2.0/24") from None
