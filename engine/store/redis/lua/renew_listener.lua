-- Extends a listener's lease. KEYS[1]: leases, KEYS[2]: listeners
-- ARGV[1]: member, ARGV[2]: lease in ms. Returns 1; 0 if it has ended, 2 if another one replaced it.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local stored = redis.call('HGET', KEYS[2], ARGV[1])
if stored then
  local last = cmsgpack.unpack(stored)[2]
  if now < last then
    -- Also one whose lease has expired, unless another listener was added since.
    redis.call('ZADD', KEYS[1], math.min(now + ARGV[2], last), ARGV[1])
    return 1
  end
end
return redis.call('EXISTS', KEYS[1] .. ':replaced:' .. ARGV[1]) * 2
