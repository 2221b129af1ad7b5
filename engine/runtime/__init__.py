"""The shell: brings events to calls, commits what they become, does what they want done."""
