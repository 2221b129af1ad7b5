-- Stores attempts of an account's webhook log. KEYS: its stream. ARGV: msgpack of {limits, attempts},
-- of which each is {call_id, body}. A call's attempts are listed by id under a key of the same hash tag.
-- A set orders these lists by their last attempt: a list goes with the last one in the stream.
local MAX_OF_CALL = 1000 -- as in engine/store/webhook_log.py
local MAX_REMOVED = 200 -- lists at once; more than attempts are added at once
local limits, attempts = unpack(cmsgpack.unpack(ARGV[1]))
local kept_ms, max_attempts = unpack(limits)
local stream = KEYS[1]
local prefix = string.gsub(stream, ':attempts$', ':call:')
local index = string.gsub(stream, ':attempts$', ':calls_by_last')
local first_ms
local changed = {}

local function ms_of(id)
  return tonumber(string.match(id, '^%d+'))
end

-- A number that grows with the id. Many attempts share a millisecond, and a double holds 53 bits.
local function order_of(id)
  return ms_of(id) * 1024 + math.min(tonumber(string.match(id, '%d+$')), 1023)
end

for _, attempt in ipairs(attempts) do
  local id = redis.call('XADD', stream, 'MAXLEN', '~', max_attempts, '*', 'a', attempt[2])
  first_ms = ms_of(id)
  local call = attempt[1]
  if call ~= '' then
    redis.call('RPUSH', prefix .. call, id)
    changed[call] = order_of(id)
  end
end
if first_ms then
  redis.call('XTRIM', stream, 'MINID', '~', string.format('%.0f-0', first_ms - kept_ms))
  redis.call('PEXPIRE', stream, kept_ms)
  local oldest = order_of(redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1][1])
  for call, last in pairs(changed) do
    local calls = prefix .. call
    redis.call('LTRIM', calls, -math.min(max_attempts, MAX_OF_CALL), -1)
    local first = redis.call('LINDEX', calls, 0)
    while first and order_of(first) < oldest do
      redis.call('LPOP', calls)
      first = redis.call('LINDEX', calls, 0)
    end
    redis.call('PEXPIRE', calls, kept_ms)
    redis.call('ZADD', index, string.format('%.0f', last), call)
  end
  redis.call('PEXPIRE', index, kept_ms)
  local stale = redis.call(
    'ZRANGEBYSCORE', index, '-inf', string.format('(%.0f', oldest), 'LIMIT', 0, MAX_REMOVED
  )
  for _, call in ipairs(stale) do
    redis.call('DEL', prefix .. call)
    redis.call('ZREM', index, call)
  end
end
return #attempts
