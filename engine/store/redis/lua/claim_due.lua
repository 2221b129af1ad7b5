-- Claims the calls whose events are due: each is due again after claim_ms.
-- ARGV: msgpack of {token, ahead_ms, claim_ms, limit}. Returns msgpack of {pending, oldest_ms, call,
-- delivery_key, age_ms, call, …}; 0 when another engine owns the shard.
local token, ahead_ms, claim_ms, limit = unpack(cmsgpack.unpack(ARGV[1]))
if tonumber(redis.call('HGET', KEYS[1], 'token') or -1) ~= token then return 0 end
local oldest = redis.call('ZRANGE', shard .. ':since', 0, 0, 'WITHSCORES')
local pending = tonumber(redis.call('HGET', shard .. ':waiting', '*') or 0)
local claimed = {pending, math.max(0, now_ms - (tonumber(oldest[2]) or now_ms))}
local until_ms = to_integer(now_ms + ahead_ms)
local due = redis.call('ZRANGEBYSCORE', shard .. ':outbox', '-inf', until_ms, 'LIMIT', 0, limit)
for _, id in ipairs(due) do
  schedule(id, claim_ms, 'XX')
  table.insert(claimed, id)
  table.insert(claimed, redis.call('HGET', shard .. ':ways', id) or '')
  local since_ms = tonumber(redis.call('ZSCORE', shard .. ':since', id) or now_ms)
  table.insert(claimed, math.max(0, now_ms - since_ms))
end
return cmsgpack.pack(claimed)
