-- Removes old events that every group has acknowledged, and more of a stream that is too large.
-- ARGV: msgpack of {kept_ms, unread_kept_ms, max_bytes, lag_factor}: unread_kept_ms without any group,
-- which has acknowledged nothing; lag_factor: how much larger it may be while a group lags.
local kept_ms, unread_kept_ms, max_bytes, lag_factor = unpack(cmsgpack.unpack(ARGV[1]))
local stream = shard .. ':events'
if redis.call('EXISTS', stream) == 0 then return 0 end
local lowest = lowest_floor(acknowledged_floors(stream))
local oldest = to_integer(now_ms - (lowest and kept_ms or unread_kept_ms)) .. '-0'
if lowest and is_before(lowest, oldest) then oldest = lowest end
redis.call('XTRIM', stream, 'MINID', '~', oldest)
local length, bytes = redis.call('XLEN', stream), redis.call('MEMORY', 'USAGE', stream, 'SAMPLES', 200)
if bytes > max_bytes then
  local target_length = math.floor(length * max_bytes / bytes)
  trim_stream(stream, shard .. ':gaps', target_length, math.floor(target_length * lag_factor))
end
return 0
