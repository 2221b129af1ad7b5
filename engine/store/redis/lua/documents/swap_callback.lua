-- Replaces an account's callback settings if they are unchanged since they were read.
-- KEYS[1]: the settings. ARGV[1]: msgpack of {account, id, the settings as read, the new ones}; '' for
-- none. May be repeated. Returns 1, or 0 when others have been stored since.
-- The first settings have version 1, so that those of a database replace what an engine creates in a
-- store that has lost its data.
local account, id, before, after = unpack(cmsgpack.unpack(ARGV[1]))
local settings = redis.call('GET', KEYS[1]) or ''
if settings == after then return 1 end
if settings ~= before then return 0 end
local stored, owner = stored_version(id, account, false)
local version = (before == '' and stored == 0) and 1 or next_version(stored)
if after == '' then
  redis.call('DEL', KEYS[1])
  record_deletion(id, version, stored, owner)
else
  redis.call('SET', KEYS[1], after)
  record(id, version, account, false, stored, owner)
end
return 1
