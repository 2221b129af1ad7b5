"""Words a call's timeline: events, commands and attempts become rows that are ready to draw."""
