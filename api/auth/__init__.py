"""Authentication: API keys, access tokens, and the principal behind them."""
