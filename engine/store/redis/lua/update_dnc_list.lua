-- Makes changes in a do-not-call list. KEYS[1]: the set, KEYS[2]: its version
-- ARGV[1]: msgpack of {after, version, add, remove, is_whole}
-- They are made only where the list stands at `after`; 0 begins it anew. `*` in it: it is whole.
-- Returns where it stands now.
local after, version, add, remove, is_whole = unpack(cmsgpack.unpack(ARGV[1]))
local stands = tonumber(redis.call('GET', KEYS[2]) or 0)
if after ~= 0 and stands ~= after then return stands end
if after == 0 then redis.call('DEL', KEYS[1]) end

local function each(command, numbers)
  for first = 1, #numbers, 1000 do  -- Lua's stack takes some 8000 values
    redis.call(command, KEYS[1], unpack(numbers, first, math.min(first + 999, #numbers)))
  end
end

each('SADD', add)
each('SREM', remove)
if is_whole then redis.call('SADD', KEYS[1], '*') end
redis.call('SET', KEYS[2], version)
return version
