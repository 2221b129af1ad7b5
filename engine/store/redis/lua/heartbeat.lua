-- Notes that an engine lives, or leaves (0 ms), which is told. KEYS: engines.
-- ARGV: msgpack of {name, body, lease_ms}. Returns msgpack of {name, body, ...} of all that live.
-- Who is late itself slept, or the clock was set: it judges nobody, and all have their time again.
-- A field that no engine wrote is taken away: nobody else does that, and each beat would read it.
local LONGEST_MS = 60000
local name, body, lease_ms = unpack(cmsgpack.unpack(ARGV[1]))
local now = redis.call('TIME')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
local function lives(ends_ms)
  local left_ms = ends_ms - now_ms
  return left_ms > 0 and left_ms <= LONGEST_MS
end
local function read(field)
  local is_packed, noted = pcall(cmsgpack.unpack, field)
  if not is_packed or type(noted) ~= 'table' then return nil end
  if type(noted[1]) == 'number' and type(noted[2]) == 'string' then return noted[1], noted[2] end
end
local before_ms = read(redis.call('HGET', KEYS[1], name))
local known = before_ms ~= nil
local is_late = known and lease_ms > 0 and not lives(before_ms)
if lease_ms == 0 then
  redis.call('HDEL', KEYS[1], name)
else
  redis.call('HSET', KEYS[1], name, cmsgpack.pack({now_ms + lease_ms, body}))
end
if (lease_ms == 0) == known then redis.call('PUBLISH', 'engines', name) end
local alive = {}
local all = redis.call('HGETALL', KEYS[1])
for at = 1, #all, 2 do
  local ends_ms, each = read(all[at + 1])
  local is_alive = ends_ms and lives(ends_ms)
  if not is_alive and not (ends_ms and is_late) then
    redis.call('HDEL', KEYS[1], all[at])
  else
    if not is_alive then
      redis.call('HSET', KEYS[1], all[at], cmsgpack.pack({now_ms + lease_ms, each}))
    end
    table.insert(alive, all[at])
    table.insert(alive, each)
  end
end
return cmsgpack.pack(alive)
