-- Gives a slot to an owner for a while, unless another's lease still runs. KEYS: {sN}:owner.
-- ARGV: msgpack of {owner, lease_ms, holder}. Returns the fencing token, or 0.
-- The holder lives and says that he has the slot, or it is ''. What nobody had after him is free only
-- if it was given back (until 0): a lease that seems to have run out did so by a clock that was set.
-- The token is larger than the last one, and than any given before a loss of data: the clock sees
-- to that. A lease that ends later than any does was given before the clock jumped back.
local LONGEST_MS = 60000
local owner, lease_ms, holder = unpack(cmsgpack.unpack(ARGV[1]))
local now = redis.call('TIME')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
local held = redis.call('HMGET', KEYS[1], 'token', 'owner', 'until')
local left_ms = tonumber(held[3] or 0) - now_ms
local runs = left_ms > 0 and left_ms <= LONGEST_MS
local last = held[2] or holder
local is_his = holder ~= '' and last == holder and tonumber(held[3] or 1) > 0
if held[2] ~= owner and (runs or is_his) then return 0 end
local token = string.format('%.0f', math.max(tonumber(held[1] or 0) + 1, now_ms))
local ends = string.format('%.0f', now_ms + lease_ms)
redis.call('HSET', KEYS[1], 'token', token, 'owner', owner, 'until', ends, 'number', 0)
return tonumber(token)
