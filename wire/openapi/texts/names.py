"""Ids, names and kinds, which mean another thing in each shape.

A parameter is named with the noun of its operation's id, such as `keys.id`.
"""

_BY_TEXT = {
    "Address of the bot: `wss://`.": "StreamData.url StartStream.url StreamRequest.url",
    "Samples per second of the audio; 8000 with protocol `twilio`.":
    "StreamData.rate StartStream.rate StreamRequest.rate",
    "Whose voice a fork has: both, the caller's, or the bot's.":
    "StreamData.track StartStream.track StreamRequest.track StreamView.track",
    "Texts that the bot gets when the stream starts.":
    "StreamData.parameters StartStream.parameters StreamRequest.parameters",
    "What a sound of the caller does while the bot speaks: `pause` until it is known whether it"
    " was speech, `flush` the rest, or nothing (`off`).": "StreamData.bargeIn StartStream.bargeIn",
    "Longest time of the stream, in seconds.":
    "StreamData.maxDuration StartStream.maxDuration StreamRequest.maxDuration",
    "What follows when the bot is lost: it is called again, the tree continues, or the call is"
    " hung up.": "StreamData.onLost StartStream.onLost StreamRequest.onLost",
    "Whether the bot only listens, while the tree goes on at once.":
    "StreamData.fork StartStream.fork StreamView.fork StreamRecord.fork",
    "Address of the bot, without its query.": "StreamView.url",
    "Id of the stream.": "StreamView.streamId StreamResult.streamId streams.streamId"
    " streams.stream",
    "`starting`, `connected`, `lost` until another stream takes its place, or `resuming` while"
    " the bot is called again.": "StreamView.state",
    "When the bot accepted it, in wall-clock milliseconds; 0: not yet.": "StreamView.connectedMs",
    "Id of the stream; if it was resumed, of its last connection.": "StreamRecord.streamId",
    "Host of the bot, with its port if the address has one.": "StreamRecord.host",
    "When the bot first accepted it, in wall-clock milliseconds; absent: never.":
    "StreamRecord.connectedMs",
    "How often another connection took the place of a lost one.": "StreamRecord.resumes",
    "How often the bot answered the caller.": "StreamRecord.turns",
    "How often speech of the caller dropped what the bot was saying.": "StreamRecord.bargeIns",
    "Median of the times from the end of the caller's speech to the bot's first audio, of the last"
    " hundred turns, in milliseconds.": "StreamRecord.medianLatencyMs",
    "Longest time from the end of the caller's speech to the bot's first audio, in milliseconds.":
    "StreamRecord.maxLatencyMs",
    "How much of the bot's audio was heard, in milliseconds.":
    "StreamView.heardMs StreamResult.heardMs StreamRecord.heardMs",
    "The bot's last mark that was reached.": "StreamView.lastMark StreamResult.lastMark",
    "The live streams of the call.": "CallStreams.streams",
    "The media streams that the call had.": "CallRecord.streams CdrView.streams",
    "Text for the bot.": "SendStreamText.text StreamTextRequest.text",
    "Id of the key.": "CreatedKey.id KeyView.id keys.id",
    "Id of the account.": "AccountView.id",
    "Id of the job.": "JobView.id jobs.id",
    "Id of the call.": "records.id",
    "Id of the attempt.": "AttemptSummary.id AttemptItem.id AttemptDetails.id AttemptView.id"
    " webhooks.id",
    "Id of the listener.": "ListenerView.id Listener.id listeners.id",
    "Id of the request, for its response.": "ListenerRequest.id",
    "Id of the messaging number.": "MessagingNumber.id messagingNumbers.id",
    "Id of the dead letter.": "DeadLetter.id DeadLetterView.id",
    "Id of what was deleted.": "DeletionResult.id",
    "Id of the event; a repetition has the same.": "CallEvent.id ContactEvent.id",
    "Id that acknowledges the event.": "DeliveredEvent.id",
    "Id that acknowledges the loss.": "LostEvents.id",
    "Id of the download.": "ContactDownload.id downloads.id",
    "Id of the template.": "TemplateView.id templates.id",
    "Id of the contact.": "contacts.id",
    "Id of the business account.": "PlatformNotificationEntry.id",
    "Id of the document.": "DraftedPhone.id DocumentChange.id documents.id",
    "Ids of the dead letters to resend.": "Resend.ids",
    "Ids of the handled events.": "AcknowledgeEvents.ids",
    "Name of the account.": "AccountView.name AccountChange.name",
    "Name of the member, as the agent or number has it.": "MemberView.name",
    "Name of the flow.": "FlowDocument.name",
    "Name of the request.": "ApiRequestSummary.name ApiRequestView.name ApiRequest.name",
    "Name of the agent.": "AgentRow.name Agent.name AgentView.name",
    "Name of the list.": "ContactListView.name InboundListRequest.name",
    "Name of the file.": "UploadedFile.name",
    "Name of the template.": "TemplateView.name",
    "Name of the PBX node.": "NodeView.name",
    "Name of the schema, such as `flow.json`.": "schemas.name",
    "What the job does.": "JobView.kind",
    "What the request was for: an action, a gather, a callback or a flow's request.":
    "AttemptSummary.kind AttemptItem.kind AttemptDetails.kind AttemptView.kind webhooks.kind",
    "Whether the target is an agent or a number.": "TransferTarget.kind",
    "What the flow is for: calls or messages.": "FlowDocument.kind",
    "Kind of the file.": "UploadedFile.kind FilePreview.kind",
    "Kind of the documents.": "DocumentChange.kind documents.kind",
    "The dialed number.": "DialResult.number",
    "A number of the account, E.164.": "NumberView.number",
    "The number that forwarded the call.": "Diversion.number",
    "The party to dial: a number, `agent:1001` or `sip:user@host`; several ring at once.":
    "DialData.number",
    "The number to which the call is transferred.": "TransferTarget.number",
    "The number whose calls are listened to.": "NewListener.number",
    "The number whose calls, or one of them, are listened to.": "ListenerView.number"
    " Listener.number",
    "The number to remove.": "EraseNumber.number ErasePrompts.number",
    "Number of the version.": "flows.number",
    "The customer's number.": "records.number",
    "The called number, such as `+4721930000`.": "checks.number",
    "The text to speak.": "SayData.text",
    "The text to speak before and during it, unless there is audio.": "GatherData.text"
    " RecordData.text Confirm.text MenuData.text",
    "The body as text; null: there is none, or it is JSON.": "ApiRequestView.text ApiRequest.text",
    "The body, as far as the log has it.": "LoggedText.text",
    "What the variable is compared with.": "ConditionCase.value",
    "What the field has now.": "PlatformNotificationChange.value",
    "State of the leg, such as `ringing` or `bridged`.": "LegView.state",
    "State of the recording: `running`, `paused`, `ended`, `archived`, `lost` or `deleted`.":
    "RecordingView.state RecordingRecord.state CdrRecording.state",
    "State of the agent's phone, if it was requested.": "AgentRow.state",
    "Id of the lifeline: that of the leg's or stream's channel, `engine`, or one of a server.":
    "Lifeline.id",
    "What the lifeline is of.": "Lifeline.kind",
    "What it is, for colors and filters.": "TimelineRow.kind TimelineSpan.kind",
    "What happened, in words; empty: only spans begin or end.": "TimelineRow.text",
    "What lasts, in words.": "TimelineSpan.text",
    "What went wrong, as a sentence.": "TimelineFault.text",
    "The lifeline where it happened, or where the arrow begins.": "TimelineRow.from",
    "The lifeline where the arrow ends; the same as `from`: there is none.": "TimelineRow.to",
    "Id of the attempt in the webhook log, if the row is of one.": "TimelineRow.attempt",
    "Id of the request, as the webhook log has it in `requestId`; empty: none.":
    "TimelineRow.request",
    "What went wrong; null: nothing.": "TimelineRow.fault",
    "Who it is, such as a number or a host.": "Lifeline.label",
    "The `after` of the next request; empty: nothing more will happen.":
    "CallTimeline.next Timeline.next",
    "Fields of the event or command that the row is of.": "TimelineRow.details",
}  # fmt: skip
NAMES = {key: text for text, keys in _BY_TEXT.items() for key in keys.split()}
