-- Gives a slot a new owner. KEYS: {sN}:owner. ARGV: the owner's name. Returns the fencing token.
-- Larger than the last one, and than any given before a loss of data: the clock sees to that.
local now = redis.call('TIME')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
local last = tonumber(redis.call('HGET', KEYS[1], 'token') or 0)
local token = string.format('%.0f', math.max(last + 1, now_ms))
redis.call('HSET', KEYS[1], 'token', token, 'owner', ARGV[1])
return tonumber(token)
