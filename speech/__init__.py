"""Speech recognizers: processes that stream gateways send audio to. They know nothing of calls."""
