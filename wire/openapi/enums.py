"""Models of enums: each set of words is one component, so that clients have one class for it."""

from collections.abc import Mapping
from typing import Any

# The fields of each model: by name, or by shape and name where the name has other words elsewhere.
# The shape of a parameter is the noun of its operation's id.
_FIELDS = {
    "AgentPresence": "presence",
    "AnswerStatus": "answerStatus",
    "AnswerStatusFilter": "records.answerStatus",
    "AnsweredBy": "answeredBy",
    "AttemptKind": "kind",
    "AttemptOutcome": "outcome",
    "CallDirection": "calls.direction",
    "CallEventName": "CallEvent.event",
    "CallRecordFormat": "CallRecordExport.format CallRecordExportRequest.format",
    "CallbackChangeKind": "CallbackChange.change",
    "CheckLevel": "level",
    "ConditionOperator": "ConditionCase.operator",
    "ContactEventName": "ContactEvent.event",
    "ContactFileFormat": "ContactDownload.format ContactDownloadRequest.format",
    "ContactListStatus": "ContactListView.status",
    "DifferenceKind": "FlowDifference.change",
    "DocumentKind": "DocumentChange.kind ReadDocuments.kind",
    "DuplicateAction": "action",
    "FlowKind": "FlowDocument.kind",
    "GatherInput": "input",
    "GatherEndReason": "GatherResult.reason",
    "HangupReason": "HangupData.reason",
    "HeaderMediaKind": "mediaKind",
    "JobState": "state",
    "LifelineKind": "Lifeline.kind",
    "ListenerFault": "fault",
    "MachineAction": "onMachine",
    "MuteDirection": "direction",
    "NumberSource": "source via",
    "NumberType": "numberTypes",
    "ParameterFormat": "parameter_format",
    "PhoneKind": "phone",
    "RecordEndReason": "RecordResult.reason",
    "RecordingPurpose": "purpose recordingPurpose",
    "RecordingPurposeFilter": "records.recordingPurpose",
    "RequestMethod": "method",
    "StreamBargeIn": "bargeIn",
    "StreamEndReason": "StreamResult.reason",
    "StreamLoss": "onLost",
    "StreamProtocol": "protocol",
    "StreamRate": "rate",
    "StreamTrack": "track",
    "TagReplacementState": "TagReplacement.state",
    "TemplateCategory": "category",
    "TimelineRowKind": "TimelineRow.kind",
    "TimelineSpanKind": "TimelineSpan.kind",
    "TranscriptChannel": "TranscriptSegment.channel",
    "TranscriptFailure": "TranscriptView.reason",
    "TranscriptState": "TranscriptView.state transcript",
    "TransferCancelReason": "CancelTransfer.reason CancelTransferRequest.reason",
    "TransferCompletionReason": "CompleteTransfer.reason CompleteTransferRequest.reason",
    "TransferMode": "transferMode",
    "TransferTargetKind": "TransferTarget.kind",
    "UploadedFileKind": "FilePreview.kind UploadedFile.kind",
}
NAMES: Mapping[str, str] = {
    field: model for model, fields in _FIELDS.items() for field in fields.split()
}


def name_enums(schema: Any, shape: str, field: str, components: dict[str, Any]) -> Any:
    """Return a field's schema, which refers to its enum, a component; a single word is a `const`.

    Raises ValueError if two fields name their enum alike and have other words.
    """
    match schema:
        case {"enum": [value], **rest}:
            return {**rest, "const": value}
        case {"enum": [*values], **rest}:
            name = NAMES.get(f"{shape}.{field}") or NAMES[field]
            model = _model(values)
            if components.setdefault(name, model) != model:
                raise ValueError(f"{shape}.{field}: {name} has other words, or is no enum")
            rest.pop("type", None)
            return {**rest, "$ref": f"#/components/schemas/{name}"}
        case {"anyOf": [*options], **rest}:
            found = [name_enums(each, shape, field, components) for each in options]
            return {"anyOf": found, **rest}
        case {"items": items, **rest}:
            return {**rest, "items": name_enums(items, shape, field, components)}
        case _:
            return schema


def _model(values: list[Any]) -> dict[str, Any]:
    if all(isinstance(each, int) for each in values):
        return {"type": "integer", "enum": sorted(values)}
    return {"type": "string", "enum": _distinct(values)}


def _distinct(words: list[str]) -> list[str]:
    """Return words in order, the upper one of those that differ by case only.

    Generators of clients make one name of both.
    """
    found = {each.upper(): each for each in sorted(words, reverse=True)}
    return sorted(found.values())
