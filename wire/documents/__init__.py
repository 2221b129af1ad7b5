"""Documents of accounts as the REST layer and the engines exchange them."""
