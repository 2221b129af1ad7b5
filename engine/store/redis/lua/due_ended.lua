-- Reads ended calls that are to be compressed, the oldest first. ARGV: msgpack of {token, after_ms, limit,
-- max_lines, max_bytes}. Returns {call_id, record, log} of each, without a record if it has expired or is
-- compressed; of a log with more lines or bytes, the number of lines instead, as the server must not be
-- busy for long.
-- Stops after so many bytes. Returns nothing when another engine owns the shard.
local token, after_ms, limit, max_lines, max_bytes = unpack(cmsgpack.unpack(ARGV[1]))
if tonumber(redis.call('HGET', KEYS[1], 'token') or -1) ~= token then return {} end
local until_ms = to_integer(now_ms - after_ms)
local found, bytes = {}, 0
local due = redis.call('ZRANGEBYSCORE', shard .. ':uncompressed', '-inf', until_ms, 'LIMIT', 0, limit)
for _, id in ipairs(due) do
  if bytes > max_bytes then break end
  local key = shard .. ':log:' .. id
  local length = redis.call('LLEN', key)
  if length > max_lines or (redis.call('MEMORY', 'USAGE', key) or 0) > max_bytes then
    table.insert(found, {id, '', length})
  else
    local record = redis.call('GET', shard .. ':ended:' .. id) or ''
    if string.sub(record, 1, 2) == '\0\193' then record = '' end
    local log = redis.call('LRANGE', key, 0, -1)
    table.insert(found, {id, record, log})
    bytes = bytes + #record
    for _, line in ipairs(log) do bytes = bytes + #line end
  end
end
return found
