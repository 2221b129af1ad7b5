"""The headers that say how many requests are left."""

from api.common.token_buckets import Rate, TokenBuckets, rate_limit_headers


def test_the_headers_say_what_is_left_and_when_all_is() -> None:
    """Whole requests, and whole seconds that are never too few."""
    assert rate_limit_headers(Rate(2, 5), 2.7) == (
        (b"ratelimit-policy", b'"requests";q=5;w=3'),
        (b"ratelimit", b'"requests";r=2;t=2'),
    )


def test_what_is_left_is_per_account() -> None:
    """One account's requests take nothing from another's."""
    buckets = TokenBuckets(Rate(1, 2), lambda: 0)
    taken = [buckets.take("acme") for _ in range(3)]
    assert taken == [True, True, False]
    assert (buckets.left("acme"), buckets.left("other")) == (0, 2)
