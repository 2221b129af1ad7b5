-- Removes undelivered events of a call. ARGV: msgpack of {call, numbers}. Returns how many.
local id, numbers = unpack(cmsgpack.unpack(ARGV[1]))
local delivery_key = redis.call('HGET', shard .. ':ways', id)
if not delivery_key then return 0 end
local removed = 0
for _, seq in ipairs(numbers) do removed = removed + remove(id, delivery_key, seq) end
delete_if_empty(id)
return removed
