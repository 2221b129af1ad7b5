-- Lets no engine of an earlier version own a slot: what those versions read as a hash becomes a text.
-- KEYS: {node:slot}:owner. Returns 1, or 0 while the lease of its owner runs.
local MAX_LEASE_MS = 60000
if redis.call('TYPE', KEYS[1]).ok == 'hash' then
  local now = redis.call('TIME')
  local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
  local left_ms = tonumber(redis.call('HGET', KEYS[1], 'until') or 0) - now_ms
  if left_ms > 0 and left_ms <= MAX_LEASE_MS then return 0 end
end
redis.call('SET', KEYS[1], 'moved to shards')
return 1
