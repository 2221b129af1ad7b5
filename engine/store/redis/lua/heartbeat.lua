-- Records that an engine is alive, or leaves (0 ms), and publishes arrivals and departures.
-- KEYS: engines. ARGV: msgpack of {name, body, lease_ms}. Returns msgpack of {name, body, ...} of all
-- live engines. When the engine's own heartbeat is late (it slept, or the clock was changed), peers
-- do not expire: all leases are extended.
-- A field that no engine wrote is deleted; otherwise each heartbeat would read it.
local MAX_LEASE_MS = 60000
local name, body, lease_ms = unpack(cmsgpack.unpack(ARGV[1]))
local now = redis.call('TIME')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
local function is_running(until_ms)
  local left_ms = until_ms - now_ms
  return left_ms > 0 and left_ms <= MAX_LEASE_MS
end
local function read(field)
  local is_packed, value = pcall(cmsgpack.unpack, field)
  if not is_packed or type(value) ~= 'table' then return nil end
  if type(value[1]) == 'number' and type(value[2]) == 'string' then return value[1], value[2] end
end
local previous_ms = read(redis.call('HGET', KEYS[1], name))
local is_known = previous_ms ~= nil
local is_late = is_known and lease_ms > 0 and not is_running(previous_ms)
if lease_ms == 0 then
  redis.call('HDEL', KEYS[1], name)
else
  redis.call('HSET', KEYS[1], name, cmsgpack.pack({now_ms + lease_ms, body}))
end
if (lease_ms == 0) == is_known then redis.call('PUBLISH', 'engines', name) end
local alive = {}
local fields = redis.call('HGETALL', KEYS[1])
for at = 1, #fields, 2 do
  local until_ms, engine_body = read(fields[at + 1])
  local is_alive = until_ms and is_running(until_ms)
  if not is_alive and not (until_ms and is_late) then
    redis.call('HDEL', KEYS[1], fields[at])
  else
    if not is_alive then
      redis.call('HSET', KEYS[1], fields[at], cmsgpack.pack({now_ms + lease_ms, engine_body}))
    end
    table.insert(alive, fields[at])
    table.insert(alive, engine_body)
  end
end
return cmsgpack.pack(alive)
