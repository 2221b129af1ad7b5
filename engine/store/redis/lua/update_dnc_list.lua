-- Applies changes to a do-not-call list. KEYS[1]: the set, KEYS[2]: its version
-- ARGV[1]: msgpack of {after, version, add, remove, is_whole}
-- They apply only to a list whose version is `after`; 0 replaces the list. A list is complete when
-- its set contains `*`. Returns the list's version.
local after, version, add, remove, is_whole = unpack(cmsgpack.unpack(ARGV[1]))
local stored_version = tonumber(redis.call('GET', KEYS[2]) or 0)
if after ~= 0 and stored_version ~= after then return stored_version end
if after == 0 then redis.call('DEL', KEYS[1]) end

local function apply(command, numbers)
  for first = 1, #numbers, 1000 do  -- Lua's stack takes some 8000 values
    redis.call(command, KEYS[1], unpack(numbers, first, math.min(first + 999, #numbers)))
  end
end

apply('SADD', add)
apply('SREM', remove)
if is_whole then redis.call('SADD', KEYS[1], '*') end
redis.call('SET', KEYS[2], version)
return version
