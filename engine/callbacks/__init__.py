"""Status callbacks: delivers call events to customers, in order, until they arrive."""
