-- Notes that an engine lives, or leaves (0 ms), which is told. KEYS: engines.
-- ARGV: msgpack of {name, body, lease_ms}. Returns msgpack of {name, body, ...} of all that live.
local LONGEST_MS = 60000
local name, body, lease_ms = unpack(cmsgpack.unpack(ARGV[1]))
local now = redis.call('TIME')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
local known = redis.call('HEXISTS', KEYS[1], name) == 1
if lease_ms == 0 then
  redis.call('HDEL', KEYS[1], name)
else
  redis.call('HSET', KEYS[1], name, cmsgpack.pack({now_ms + lease_ms, body}))
end
if (lease_ms == 0) == known then redis.call('PUBLISH', 'engines', name) end
local alive = {}
local all = redis.call('HGETALL', KEYS[1])
for at = 1, #all, 2 do
  local ends_ms, each = unpack(cmsgpack.unpack(all[at + 1]))
  local left_ms = ends_ms - now_ms
  if left_ms > 0 and left_ms <= LONGEST_MS then
    table.insert(alive, all[at])
    table.insert(alive, each)
  else
    redis.call('HDEL', KEYS[1], all[at])
  end
end
return cmsgpack.pack(alive)
