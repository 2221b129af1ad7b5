"""Conferences over REST (docs/sessions.md)."""

from api.auth.dependencies import AuthenticatedUser
from api.http.routes import Body, Routes
from api.voice import examples
from api.voice.dependencies import CONTROL_ERRORS, READ_ERRORS, Sessions
from api.voice.routes import BASE
from api.voice.schemas import CallReference
from api.voice.sessions.schemas import (
    AddMembersRequest,
    CoachRequest,
    KickMemberRequest,
    LeaveConferenceRequest,
)
from wire.control import ConferenceView

routes = Routes("Conferences")


@routes.post(
    f"{BASE}/conference/add-members",
    id="conferences.add",
    scope="calls:own",
    returns=ConferenceView,
    errors=CONTROL_ERRORS,
    example=examples.ADD,
    idempotent=True,
)
async def add_members(
    user: AuthenticatedUser, sessions: Sessions, body: Body[AddMembersRequest]
) -> bytes:
    """Call a member into a conference.

    The member is an agent or an external number. The first one turns the call into a conference.
    """
    return await sessions.add_members(user, body)


@routes.post(
    f"{BASE}/conference/kick",
    id="conferences.kick",
    scope="calls:own",
    returns=ConferenceView,
    errors=CONTROL_ERRORS,
    example=examples.KICK,
)
async def kick(user: AuthenticatedUser, sessions: Sessions, body: Body[KickMemberRequest]) -> bytes:
    """Remove a member from a conference."""
    return await sessions.kick(user, body)


@routes.post(
    f"{BASE}/conference/leave",
    id="conferences.leave",
    scope="calls:own",
    returns=ConferenceView,
    errors=CONTROL_ERRORS,
    example=examples.LEAVE,
)
async def leave(
    user: AuthenticatedUser, sessions: Sessions, body: Body[LeaveConferenceRequest]
) -> bytes:
    """Leave a conference."""
    return await sessions.leave(user, body)


@routes.post(
    f"{BASE}/conference/coach",
    id="conferences.coach",
    scope="calls:own",
    returns=ConferenceView,
    errors=CONTROL_ERRORS,
    example=examples.COACH,
    idempotent=True,
)
async def coach(user: AuthenticatedUser, sessions: Sessions, body: Body[CoachRequest]) -> bytes:
    """Let one other member only hear a member, who hears all that this one says and hears.

    Without `coachedChannelId` all hear it again. An agent's token coaches on the agent's own leg.
    """
    return await sessions.coach(user, body)


@routes.post(
    f"{BASE}/conference/members",
    id="conferences.members",
    scope="calls:own",
    returns=ConferenceView,
    errors=READ_ERRORS,
    example={"callId": examples.CALL},
)
async def members(user: AuthenticatedUser, sessions: Sessions, body: Body[CallReference]) -> bytes:
    """Show the conference of a call, the live one or the last."""
    return await sessions.members(user, body.call_id)


@routes.get(
    f"{BASE}/conference/my",
    id="conferences.mine",
    scope="calls:own",
    returns=ConferenceView,
    errors=READ_ERRORS,
)
async def my_conference(user: AuthenticatedUser, sessions: Sessions) -> bytes:
    """Show the live conference that the token's agent is in."""
    return await sessions.my_conference(user)
