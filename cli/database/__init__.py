"""Commands of administrators: `switchroom api` and `switchroom account`."""
