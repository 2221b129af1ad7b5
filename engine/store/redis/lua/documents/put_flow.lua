-- Stores a flow's next version, makes it the newest, and deletes the version that exceeds the limit.
-- KEYS[1]: the account's flows and their newest versions
-- ARGV[1]: msgpack of {account, flow, body, how many versions are kept}. Returns the version.
-- The last version number outlives the flow by a week, because engines cache versions by number.
local account, flow, body, kept = unpack(cmsgpack.unpack(ARGV[1]))
local versions = 'flow' .. string.sub(KEYS[1], 6) .. ':' .. flow
local stored, owner = stored_version(flow, account, false)
local number = redis.call('HINCRBY', KEYS[1], flow .. ':last', 1)
redis.call('HSET', versions, number, body)
redis.call('HDEL', versions, number - kept)
redis.call('PERSIST', versions)
redis.call('HSET', KEYS[1], flow, number)
record(flow, next_version(stored), account, false, stored, owner)
return number
