-- Stores a flow's next version, makes it the newest, and deletes the version that exceeds the limit.
-- KEYS[1]: the flow's versions, KEYS[2]: the account's flows and their newest versions
-- ARGV[1]: flow, ARGV[2]: body, ARGV[3]: how many versions are kept
-- The last version number outlives the flow, because engines cache versions by number.
local version = redis.call('HINCRBY', KEYS[2], ARGV[1] .. ':last', 1)
redis.call('HSET', KEYS[1], version, ARGV[2])
redis.call('HDEL', KEYS[1], version - ARGV[3])
redis.call('PERSIST', KEYS[1])
redis.call('HSET', KEYS[2], ARGV[1], version)
return version
