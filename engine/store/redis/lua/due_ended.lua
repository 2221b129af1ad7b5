-- Reads ended calls that are to be compressed, the oldest first. ARGV: msgpack of {token, after_ms,
-- limit}. Returns {call_id, record, log} of each, without a record if it has expired or is compressed;
-- nothing when another engine owns the shard.
local token, after_ms, limit = unpack(cmsgpack.unpack(ARGV[1]))
if tonumber(redis.call('HGET', KEYS[1], 'token') or -1) ~= token then return {} end
local until_ms = to_integer(now_ms - after_ms)
local found = {}
local due = redis.call('ZRANGEBYSCORE', shard .. ':uncompressed', '-inf', until_ms, 'LIMIT', 0, limit)
for _, id in ipairs(due) do
  local record = redis.call('GET', shard .. ':ended:' .. id) or ''
  if string.sub(record, 1, 2) == '\0\193' then record = '' end
  table.insert(found, {id, record, redis.call('LRANGE', shard .. ':log:' .. id, 0, -1)})
end
return found
