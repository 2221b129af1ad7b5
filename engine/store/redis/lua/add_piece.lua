-- Adds a compressed piece of an ended call's log. ARGV: msgpack of {token, call_id, number, piece}; piece 0
-- begins a new list. Returns 1; 0 when the call has expired or another engine owns the shard.
local token, id, number, piece = unpack(cmsgpack.unpack(ARGV[1]))
if tonumber(redis.call('HGET', KEYS[1], 'token') or -1) ~= token then return 0 end
local pieces = shard .. ':pieces:' .. id
local left_ms = redis.call('PTTL', shard .. ':ended:' .. id)
if number == 0 then redis.call('UNLINK', pieces) end
if left_ms <= 0 or redis.call('LLEN', pieces) ~= number then return 0 end
redis.call('RPUSH', pieces, piece)
redis.call('PEXPIRE', pieces, left_ms)
return 1
