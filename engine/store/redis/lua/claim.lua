-- Gives a shard to an owner for a while, unless another owner's lease still runs.
-- KEYS: {node:slot}:owner. ARGV: msgpack of {owner, lease_ms, holder}. Returns the fencing token, or 0.
-- `holder` is a live engine that claims to hold the shard, or ''. Its claim overrides lease expiry:
-- unless another engine owned the shard after it, the shard is free only when it was released
-- (until 0), because the lease of a live holder can only seem to expire when a clock was changed.
-- The token is larger than the last one, and (by the clock) than any given before a loss of data.
-- A lease that ends later than any lease can was given before the clock jumped back.
local MAX_LEASE_MS = 60000
local owner, lease_ms, holder = unpack(cmsgpack.unpack(ARGV[1]))
local now = redis.call('TIME')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
local stored = redis.call('HMGET', KEYS[1], 'token', 'owner', 'until', 'seen')
local left_ms = tonumber(stored[3] or 0) - now_ms
local is_leased = left_ms > 0 and left_ms <= MAX_LEASE_MS
local last_owner = stored[2] or holder
local is_held = holder ~= '' and last_owner == holder and tonumber(stored[3] or 1) > 0
if stored[2] ~= owner and (is_leased or is_held) then return 0 end
local token = string.format('%.0f', math.max(tonumber(stored[1] or 0) + 1, now_ms))
local until_ms = string.format('%.0f', now_ms + lease_ms)
redis.call('HSET', KEYS[1], 'token', token, 'owner', owner, 'until', until_ms, 'number', 0,
  'seen_before', stored[4] or 0) -- when the last owner was certainly alive
return tonumber(token)
