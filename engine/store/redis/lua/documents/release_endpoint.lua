-- Releases an endpoint that an account has; another account may have claimed it since.
-- KEYS[1]: endpoints and the accounts that they belong to
-- ARGV[1]: endpoint, ARGV[2]: account
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then
    redis.call('HDEL', KEYS[1], ARGV[1])
end
