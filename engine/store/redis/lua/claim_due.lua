-- Takes the calls in hand whose events are due, and puts off when they are looked at next.
-- ARGV: msgpack of {token, ahead_ms, hold_ms, limit}. Returns msgpack of {waiting, oldest_ms, call,
-- way, age_ms, call, …}; 0 when the slot is another's.
local token, ahead_ms, hold_ms, limit = unpack(cmsgpack.unpack(ARGV[1]))
if tonumber(redis.call('HGET', KEYS[1], 'token') or -1) ~= token then return 0 end
local oldest = redis.call('ZRANGE', slot .. ':since', 0, 0, 'WITHSCORES')
local waiting = tonumber(redis.call('HGET', slot .. ':waiting', '*') or 0)
local taken = {waiting, math.max(0, now_ms - (tonumber(oldest[2]) or now_ms))}
local until_ms = whole(now_ms + ahead_ms)
local due = redis.call('ZRANGEBYSCORE', slot .. ':outbox', '-inf', until_ms, 'LIMIT', 0, limit)
for _, id in ipairs(due) do
  look(id, hold_ms, 'XX')
  table.insert(taken, id)
  table.insert(taken, redis.call('HGET', slot .. ':ways', id) or '')
  local since = tonumber(redis.call('ZSCORE', slot .. ':since', id) or now_ms)
  table.insert(taken, math.max(0, now_ms - since))
end
return cmsgpack.pack(taken)
