-- Releases an endpoint that an account has; another account may have claimed it since.
-- KEYS[1]: endpoints and the accounts that they belong to. KEYS[2]: the endpoint's reservation
-- ARGV[1]: endpoint, ARGV[2]: account, ARGV[3]: 1, only if it is not reserved
local reserved = redis.call('GET', KEYS[2])
if ARGV[3] == '1' and reserved then return end
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then
  redis.call('HDEL', KEYS[1], ARGV[1])
end
if reserved == ARGV[2] then redis.call('DEL', KEYS[2]) end
