-- Stores documents of one account and kind, unless there are newer ones. KEYS[1]: their table.
-- ARGV[1]: msgpack of {account, form, is_shared, {{id, version, body}…}, limits of changes}
-- `form` is hash, agent, phone, flow or string. Body false: a deletion. Version 0: the next one.
-- Agents and phones are hashes, of which engines read the changes; those of agents expire.
-- Returns msgpack of the versions afterwards; 0: there was nothing to delete.
local account, form, is_shared, documents, limits = unpack(cmsgpack.unpack(ARGV[1]))
local MAX_CALL_S = 604800

local function exists(id)
  if form == 'string' then return redis.call('EXISTS', KEYS[1]) == 1 end
  return redis.call('HEXISTS', KEYS[1], id) == 1
end

-- A flow's table has the published version of each flow, and in FLOW:last the newest one.
local function write_flow(id, body)
  local versions = 'flow' .. string.sub(KEYS[1], 6) .. ':' .. id
  if not body or body[1] == 0 then redis.call('HDEL', KEYS[1], id) end
  if not body then
    redis.call('EXPIRE', versions, MAX_CALL_S)
    return
  end
  if body[1] > 0 then redis.call('HSET', KEYS[1], id, body[1]) end
  local last = math.max(tonumber(redis.call('HGET', KEYS[1], id .. ':last') or 0), body[2])
  redis.call('HSET', KEYS[1], id .. ':last', last)
  redis.call('PERSIST', versions)
end

local function write(id, body)
  if form == 'flow' then
    write_flow(id, body)
  elseif form == 'string' then
    if body then redis.call('SET', KEYS[1], body) else redis.call('DEL', KEYS[1]) end
  elseif body then
    redis.call('HSET', KEYS[1], id, body)
  else
    redis.call('HDEL', KEYS[1], id)
  end
  if form == 'agent' or form == 'phone' then
    local changes = prefix .. ':changes'
    redis.call('XADD', changes, 'MAXLEN', '~', limits[1], '*', form, id)
    if form == 'agent' then
      redis.call('EXPIRE', changes, limits[2])
    else -- an engine that was away for long must not take lost changes for none
      redis.call('PERSIST', changes)
    end
  end
end

local results = {}
for place, document in ipairs(documents) do
  local id, version, body = unpack(document)
  local stored, owner = stored_version(id, account, is_shared)
  local is_engines = version == 0
  if is_engines then version = next_version(stored) end
  if version < stored then
    version = stored
  elseif is_engines and not body and not exists(id) then
    version = 0
  else
    write(id, body)
    if body then
      record(id, version, account, is_shared, stored, owner)
    else
      record_deletion(id, version, stored, owner)
    end
  end
  results[place] = version
end
return cmsgpack.pack(results)
