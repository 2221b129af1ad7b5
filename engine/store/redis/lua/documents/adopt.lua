-- Gives the first version to documents without one. KEYS[1]: their table
-- ARGV[1]: msgpack of {account, is_shared, {id…}}. Returns how many there were.
local account, is_shared, ids = unpack(cmsgpack.unpack(ARGV[1]))
local count = 0
for _, id in ipairs(ids) do
  local stored, owner = stored_version(id, account, is_shared)
  if not owner then
    local version = stored == 0 and 1 or next_version(stored) -- written by an engine without versions
    record(id, version, account, is_shared, stored, owner)
    count = count + 1
  end
end
return count
