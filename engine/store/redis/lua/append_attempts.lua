-- Stores attempts of an account's webhook log. KEYS: its stream. ARGV: msgpack of {limits, attempts},
-- of which each is {call_id, body}. A call's attempts are listed by id under a key of the same hash tag.
local MAX_OF_CALL = 1000 -- as in engine/store/webhook_log.py
local limits, attempts = unpack(cmsgpack.unpack(ARGV[1]))
local kept_ms, max_attempts = unpack(limits)
local stream = KEYS[1]
local prefix = string.gsub(stream, ':attempts$', ':call:')
local first_ms
for _, attempt in ipairs(attempts) do
  local id = redis.call('XADD', stream, 'MAXLEN', '~', max_attempts, '*', 'a', attempt[2])
  first_ms = string.match(id, '^%d+')
  if attempt[1] ~= '' then
    local calls = prefix .. attempt[1]
    redis.call('RPUSH', calls, id)
    redis.call('LTRIM', calls, -math.min(max_attempts, MAX_OF_CALL), -1)
    redis.call('PEXPIRE', calls, kept_ms)
  end
end
if first_ms then
  redis.call('XTRIM', stream, 'MINID', '~', string.format('%.0f-0', first_ms - kept_ms))
  redis.call('PEXPIRE', stream, kept_ms)
end
return #attempts
