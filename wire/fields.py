"""The kinds of text and number that shapes are made of, each with what it allows."""

from typing import Annotated

from msgspec import Meta

from wire import patterns

Url = Annotated[str, Meta(pattern=patterns.URL, max_length=2048)]
Number = Annotated[str, Meta(pattern=patterns.NUMBER)]
Party = Annotated[str, Meta(pattern=patterns.PARTY)]
Name = Annotated[str, Meta(pattern=patterns.NAME)]
CallerId = Annotated[str, Meta(pattern=patterns.CALLER_ID)]
Language = Annotated[str, Meta(pattern=patterns.LANGUAGE)]
Seconds = Annotated[float, Meta(gt=0, le=86_400)]
Labels = Annotated[dict[Name, Annotated[str, Meta(max_length=256)]], Meta(max_length=16)]
Millis = Annotated[int, Meta(ge=0, le=600_000)]
