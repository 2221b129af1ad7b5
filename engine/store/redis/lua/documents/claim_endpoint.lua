-- Reserves an endpoint for an account for some time, or claims it, too, unless it is another one's.
-- KEYS[1]: endpoints and the accounts that they belong to. KEYS[2]: the endpoint's reservation
-- ARGV[1]: endpoint, ARGV[2]: account, ARGV[3]: reserved for how many ms, ARGV[4]: 1, it is claimed
-- Returns whose it is.
local endpoint, account = ARGV[1], ARGV[2]
local owner = redis.call('HGET', KEYS[1], endpoint) or redis.call('GET', KEYS[2]) or account
if owner ~= account then return owner end
redis.call('SET', KEYS[2], account, 'PX', ARGV[3])
if ARGV[4] == '1' then redis.call('HSET', KEYS[1], endpoint, account) end
return account
