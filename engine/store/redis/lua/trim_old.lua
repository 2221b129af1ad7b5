-- Removes old events that every group has acknowledged. ARGV: msgpack of {kept_ms, unread_kept_ms}:
-- the latter without any group, which has acknowledged nothing. Returns how many.
local kept_ms, unread_kept_ms = unpack(cmsgpack.unpack(ARGV[1]))
local stream = shard .. ':events'
if redis.call('EXISTS', stream) == 0 then return 0 end
local lowest = lowest_floor(acknowledged_floors(stream))
local oldest = to_integer(now_ms - (lowest and kept_ms or unread_kept_ms)) .. '-0'
if lowest and is_before(lowest, oldest) then oldest = lowest end
return redis.call('XTRIM', stream, 'MINID', '~', oldest)
