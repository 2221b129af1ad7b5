-- Commits one slot's batch of changes, all or nothing.
-- KEYS: {sN}:owner. ARGV: msgpack of {token, number, kept_ms, {length, ceiling}, create, room,
-- changes}, each
-- change {call_id, record, seq, log, told, live, way, due, first_due}. Returns 1 when stored, or -n
-- when n events found no room in the outbox, 2 when a call to create exists, the owner's name when
-- the token is stale.
-- All keys share the slot's hash tag, so they lie on one node of a cluster, declared or not.
local token, number, kept_ms, bounds, create, room, changes = unpack(cmsgpack.unpack(ARGV[1]))
local owned = redis.call('HMGET', KEYS[1], 'token', 'owner')
if tonumber(owned[1] or -1) ~= token then return owned[2] or '' end

local live, events = slot .. ':live', slot .. ':events'

local function append(key, entries, first)
  for from = first, #entries, 1000 do -- what unpack can put on Lua's stack is limited
    redis.call('RPUSH', key, unpack(entries, from, math.min(from + 999, #entries)))
  end
end

local overflowed = 0

local function tell(id, way, due, first)
  for offset, event in ipairs(due) do
    local seq = first + offset - 1
    if await(id, way, seq, event, room) then
      look(id, room.hold_ms, 'NX') -- whoever commits delivers it; this is for when it can't
    else
      bury(id, way, seq, event, 'overflow', 0, room)
      overflowed = overflowed + 1
    end
  end
end

local function store(id, record, seq, entries, told, lives, way, due, first_due)
  local key = slot .. ':log:' .. id
  local have = redis.call('LLEN', key)
  if have >= seq + #entries then return end -- a repetition, or older than what is stored
  for _ = have + 1, seq do redis.call('RPUSH', key, '') end -- lost with a failover: numbers stay right
  append(key, entries, math.max(have - seq, 0) + 1)
  for _, event in ipairs(told) do
    redis.call('XADD', events, '*', 'e', event)
  end
  tell(id, way, due, first_due)
  if lives then
    redis.call('HSET', live, id, record)
  else
    redis.call('HDEL', live, id)
    redis.call('SET', slot .. ':ended:' .. id, record, 'PX', kept_ms)
    redis.call('PEXPIRE', key, kept_ms)
  end
end

if create then
  local id, record = changes[1][1], changes[1][2]
  local stored = redis.call('HGET', live, id)
  if stored == record then return 1 end
  if stored or redis.call('EXISTS', slot .. ':ended:' .. id) == 1 then return 2 end
end
for _, change in ipairs(changes) do store(unpack(change)) end
redis.call('HSET', KEYS[1], 'number', number)
shorten(events, slot .. ':gaps', unpack(bounds))
return overflowed > 0 and -overflowed or 1
