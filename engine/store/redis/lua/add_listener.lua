-- Adds a listener in place of the one for the same number or call. KEYS[1]: leases, KEYS[2]: listeners
-- ARGV[1]: member (`id account`), ARGV[2]: subject, ARGV[3]: its last ms, ARGV[4]: its JSON,
-- ARGV[5]: lease in ms, ARGV[6]: how many others its account may have, ARGV[7]: how long it is known
-- which one was replaced, in ms
-- Returns 0 if the account has too many.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now)) do
  redis.call('ZREM', KEYS[1], member)
  redis.call('HDEL', KEYS[2], member)
end
local account = string.match(ARGV[1], ' (.*)$')
local count, replaced = 0, nil
local stored = redis.call('HGETALL', KEYS[2])
for at = 1, #stored, 2 do
  if string.match(stored[at], ' (.*)$') == account then
    if cmsgpack.unpack(stored[at + 1])[1] == ARGV[2] then
      replaced = stored[at]
    else
      count = count + 1
    end
  end
end
if count >= tonumber(ARGV[6]) then return 0 end
if replaced then
  redis.call('ZREM', KEYS[1], replaced)
  redis.call('HDEL', KEYS[2], replaced)
  redis.call('SET', KEYS[1] .. ':replaced:' .. replaced, 1, 'PX', ARGV[7])
end
local last = tonumber(ARGV[3])
redis.call('ZADD', KEYS[1], math.min(now + ARGV[5], last), ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], cmsgpack.pack({ARGV[2], last, ARGV[4]}))
return 1
