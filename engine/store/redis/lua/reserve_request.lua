-- Lets a request start a call, unless it has one. KEYS: request:<id>. May be repeated.
-- ARGV: call, the call that it replaces ('': none), how long that is kept in ms. Returns its call.
local call = redis.call('GET', KEYS[1]) or ''
if call ~= ARGV[2] and call ~= '' then return call end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return ARGV[1]
