-- What is due to customers, as functions of the scripts that this is put before. KEYS: {sN}:owner.
-- {sN}:due:<call>  its events that were not delivered yet, by number
-- {sN}:outbox      when each such call is looked at next
-- {sN}:ways        where its events go: "account target"
-- {sN}:tries       how often its first event was tried
-- {sN}:since       since when it has had something due
-- {sN}:waiting     how many events wait, by account, and of all ("*")
-- {sN}:dead:<account>  a stream of what was given up
local slot = string.match(KEYS[1], '^{.-}')
local clock = redis.call('TIME')
local now_ms = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function whole(number) return string.format('%.0f', number) end

local function account_of(way) return string.match(way, '^%S+') end

local function counted(way, by)
  local account = account_of(way)
  if redis.call('HINCRBY', slot .. ':waiting', account, by) <= 0 then
    redis.call('HDEL', slot .. ':waiting', account)
  end
  redis.call('HINCRBY', slot .. ':waiting', '*', by)
end

local function bury(id, way, seq, event, reason, tries, room)
  local key = slot .. ':dead:' .. account_of(way)
  redis.call('XADD', key, 'MAXLEN', '~', room.dead, '*', 'c', id, 'w', way, 's', seq, 'e', event,
    'r', reason, 't', tries)
  redis.call('PEXPIRE', key, whole(room.dead_kept_ms))
end

-- Notes an event; false when its account has all the room that it may have.
local function await(id, way, seq, event, room)
  local held = redis.call('HMGET', slot .. ':waiting', account_of(way), '*')
  local its, all = tonumber(held[1] or 0), tonumber(held[2] or 0)
  if its >= math.max(room.share, (room.of_slot - all) / room.parts) then return false end
  if redis.call('ZADD', slot .. ':due:' .. id, seq, event) == 1 then counted(way, 1) end
  redis.call('HSETNX', slot .. ':ways', id, way)
  redis.call('ZADD', slot .. ':since', 'NX', whole(now_ms), id)
  return true
end

local function look(id, after_ms, condition)
  redis.call('ZADD', slot .. ':outbox', condition, whole(now_ms + after_ms), id)
end

local function remove(id, way, seq)
  local gone = redis.call('ZREMRANGEBYSCORE', slot .. ':due:' .. id, seq, seq)
  if gone > 0 then counted(way, -gone) end
end

local function forget_if_done(id)
  if redis.call('EXISTS', slot .. ':due:' .. id) == 1 then return false end
  for _, table in ipairs({':ways', ':tries'}) do redis.call('HDEL', slot .. table, id) end
  for _, index in ipairs({':outbox', ':since'}) do redis.call('ZREM', slot .. index, id) end
  return true
end
