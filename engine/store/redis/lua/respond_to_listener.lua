-- Stores the response of a request that is still waited for. KEYS[1]: the wait, KEYS[2]: responses
-- ARGV[1]: the response, ARGV[2]: how long it is kept, in ms. Returns 0 if nothing waits.
if redis.call('DEL', KEYS[1]) == 0 then return 0 end
redis.call('XADD', KEYS[2], '*', 'e', ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 1
