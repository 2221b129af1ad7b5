-- Keeps a flow's next version, names it the newest, and forgets one that is long replaced.
-- KEYS[1]: the flow's versions, KEYS[2]: the account's flows and their newest
-- ARGV[1]: flow, ARGV[2]: body, ARGV[3]: how many versions are kept
-- The last number given outlives the flow: engines remember what a version said.
local version = redis.call('HINCRBY', KEYS[2], ARGV[1] .. ':last', 1)
redis.call('HSET', KEYS[1], version, ARGV[2])
redis.call('HDEL', KEYS[1], version - ARGV[3])
redis.call('PERSIST', KEYS[1])
redis.call('HSET', KEYS[2], ARGV[1], version)
return version
