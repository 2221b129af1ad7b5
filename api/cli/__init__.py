"""The administrator's commands: `switchroom api` and `switchroom account`."""
