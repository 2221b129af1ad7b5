"""What a call's record is found by beside numbers and times: the filters that nobody else fills.

The specification names `callPath` and `obdType` and says nothing of their values: these are ours.
"""

from api.voice.schemas import Originate


def labels_of(asked: Originate, *, from_first: bool) -> dict[str, str]:
    """Say which form a call has and which flow it runs, where its customData does not say it.

    `clientId` is the customer's alone, as a text of customData; without a flow, a call's path is
    its direction.
    """
    ours = {"obdType": "click-to-call" if from_first else "direct"}
    if asked.flow_id is not None:
        ours["callPath"] = f"flow:{asked.flow_id}"
    given = asked.custom_data or {}
    return {name: text for name, text in ours.items() if not isinstance(given.get(name), str)}
