-- Replaces ended calls by their compressed form, unless they have changed since they were read.
-- ARGV: msgpack of {token, calls}, each call {call_id, length of its log, compressed, number of pieces};
-- '': nothing is left to compress. Returns 1, or the owner's name when another engine owns the shard.
local token, calls = unpack(cmsgpack.unpack(ARGV[1]))
local stored_owner = redis.call('HMGET', KEYS[1], 'token', 'owner')
if tonumber(stored_owner[1] or -1) ~= token then return stored_owner[2] or '' end

local queue = shard .. ':uncompressed'
for _, call in ipairs(calls) do
  local id, length, compressed, number = unpack(call)
  local ended, log, pieces = shard .. ':ended:' .. id, shard .. ':log:' .. id, shard .. ':pieces:' .. id
  if compressed == '' or redis.call('EXISTS', ended) == 0 then
    redis.call('ZREM', queue, id)
  elseif redis.call('LLEN', log) == length and (number == 0 or redis.call('LLEN', pieces) == number) then
    redis.call('SET', ended, compressed, 'KEEPTTL')
    redis.call('UNLINK', log)
    if number == 0 then redis.call('UNLINK', pieces) end -- of an earlier end
    redis.call('ZREM', queue, id)
  else
    redis.call('ZADD', queue, to_integer(now_ms), id) -- again after a while
  end
end
return 1
