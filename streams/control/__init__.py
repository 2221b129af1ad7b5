"""What engines use of a gateway: requests that set streams up, and the reports about them."""
