-- Extends a lease from now, or releases it (0 ms), which is published. KEYS: {node:slot}:owner.
-- ARGV: msgpack of {token, lease_ms, number}. Returns 1; 0 when another engine owns the shard; 2 when
-- the batch of that number was stored once and is lost.
local token, lease_ms, number = unpack(cmsgpack.unpack(ARGV[1]))
if tonumber(redis.call('HGET', KEYS[1], 'token') or -1) ~= token then return 0 end
local now = redis.call('TIME')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
local until_ms = lease_ms == 0 and 0 or now_ms + lease_ms
local format = string.format
redis.call('HSET', KEYS[1], 'until', format('%.0f', until_ms), 'seen', format('%.0f', now_ms))
if lease_ms == 0 then redis.call('PUBLISH', 'engines', KEYS[1]) end
return tonumber(redis.call('HGET', KEYS[1], 'number') or 0) < number and 2 or 1
