-- Notes that an engine lives, or leaves (0 ms), which is told. KEYS: engines.
-- ARGV: msgpack of {name, body, lease_ms}. Returns msgpack of {name, body, ...} of all that live.
-- Who is late itself slept, or the clock was set: it judges nobody, and all have their time again.
local LONGEST_MS = 60000
local name, body, lease_ms = unpack(cmsgpack.unpack(ARGV[1]))
local now = redis.call('TIME')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
local function lives(ends_ms)
  local left_ms = ends_ms - now_ms
  return left_ms > 0 and left_ms <= LONGEST_MS
end
local before = redis.call('HGET', KEYS[1], name)
local known = before and true or false
local is_late = known and lease_ms > 0 and not lives(cmsgpack.unpack(before)[1])
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
  local is_alive = lives(ends_ms)
  if is_late and not is_alive then
    redis.call('HSET', KEYS[1], all[at], cmsgpack.pack({now_ms + lease_ms, each}))
  end
  if is_late or is_alive then
    table.insert(alive, all[at])
    table.insert(alive, each)
  else
    redis.call('HDEL', KEYS[1], all[at])
  end
end
return cmsgpack.pack(alive)
