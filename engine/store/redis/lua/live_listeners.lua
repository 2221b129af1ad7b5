-- Returns the JSON of all live listeners. KEYS[1]: leases, KEYS[2]: listeners
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local found = {}
for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf')) do
  local stored = redis.call('HGET', KEYS[2], member)
  if stored then found[#found + 1] = cmsgpack.unpack(stored)[3] end
end
return found
