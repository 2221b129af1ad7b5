"""A survey: two questions with answers from one to five; GET /results shows the averages."""

import os
from statistics import fmean

from flask import Flask
from switchroom_sdk import ActionRequest, Gather, GatherResult, Verb, gather, say
from switchroom_sdk.flask import Webhooks

QUESTIONS = (
    "How satisfied are you with our service, from one to five?",
    "Would you recommend us to a friend, from one to five?",
)

app = Flask(__name__)
webhooks = Webhooks(app)
# By question and call: a webhook may be repeated. A real application keeps them in a database.
marks: dict[int, dict[str, int]] = {index: {} for index in range(len(QUESTIONS))}


def question(index: int) -> Gather:
    return gather(
        QUESTIONS[index], max_digits=1, action=f"/marks/{index}", fallback=say("Goodbye.")
    )


@webhooks.post("/answer")
def answer(call: ActionRequest) -> Verb:
    return say("Thank you for taking part. Please press a digit after each question.").then(
        question(0)
    )


def mark(index: int, result: GatherResult) -> Verb:
    if result.dtmf not in {"1", "2", "3", "4", "5"}:
        return say("Please press a digit from one to five.").then(question(index))
    marks[index][result.call_id] = int(result.dtmf)
    if index + 1 < len(QUESTIONS):
        return question(index + 1)
    return say("Thank you. Goodbye.")


@webhooks.post("/marks/0")
def first(result: GatherResult) -> Verb:
    return mark(0, result)


@webhooks.post("/marks/1")
def second(result: GatherResult) -> Verb:
    return mark(1, result)


@app.get("/results")
def results() -> list[dict[str, object]]:
    return [
        {"question": text, "answers": len(marks[index]), "average": average(marks[index])}
        for index, text in enumerate(QUESTIONS)
    ]


def average(given: dict[str, int]) -> float | None:
    return fmean(given.values()) if given else None


if __name__ == "__main__":
    app.run("127.0.0.1", int(os.environ.get("PORT", "3000")))
