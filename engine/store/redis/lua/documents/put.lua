-- Stores documents of one account and kind, unless there are newer ones. KEYS[1]: their table.
-- ARGV[1]: msgpack of {account, form, is_shared, {{id, version, body}…}, limits of changes}
-- `form` is hash, agent, phone or flow. Body false: a deletion.
-- Agents and phones are hashes, of which engines read the changes; those of agents expire.
-- A flow's body is the number of its published version; 0: none.
-- Returns msgpack of the versions afterwards.
--
-- Versions are in keys of the same hash slot as the documents: {…}:versions:ACCOUNT has them by id,
-- {…}:sums the checksum of each account, {…}:deleted the versions of deletions. In tables that
-- accounts share, {…}:owners has the account of each document. A checksum is the sum of digests
-- modulo 2^48: doubles hold it exactly.
local account, form, is_shared, documents, limits = unpack(cmsgpack.unpack(ARGV[1]))
local MODULUS = 2 ^ 48
local DELETION_KEPT_MS = 604800000
local MAX_FORGOTTEN = 100 -- deletions, of a change
local MAX_CALL_S = 604800
local is_tagged = string.find(KEYS[1], '{', 1, true)
local prefix = is_tagged and KEYS[1] or '{' .. KEYS[1] .. '}'
local owners, sums, deleted = prefix .. ':owners', prefix .. ':sums', prefix .. ':deleted'

local function integer(number) return string.format('%.0f', number) end

local function versions_of(owner) return prefix .. ':versions:' .. owner end

local function add_to_sum(owner, id, version, sign)
  local digest = tonumber(string.sub(redis.sha1hex(id .. ':' .. integer(version)), 1, 12), 16)
  local sum = tonumber(redis.call('HGET', sums, owner) or 0)
  redis.call('HSET', sums, owner, integer((sum + sign * digest) % MODULUS))
end

-- Returns the version under an id, and the account that has the document; nil: there is none.
local function stored_version(id)
  local owner = account
  if is_shared then owner = redis.call('HGET', owners, id) end
  local version = owner and redis.call('HGET', versions_of(owner), id)
  if version then return tonumber(version), owner end
  return tonumber(redis.call('ZSCORE', deleted, id) or 0), nil
end

local function record(id, version, is_deletion, stored, owner)
  if owner then
    redis.call('HDEL', versions_of(owner), id)
    redis.call('HDEL', owners, id)
    add_to_sum(owner, id, stored, -1)
  end
  if is_deletion then
    redis.call('ZADD', deleted, integer(version), id)
    return
  end
  redis.call('HSET', versions_of(account), id, integer(version))
  if is_shared then redis.call('HSET', owners, id, account) end
  add_to_sum(account, id, version, 1)
  redis.call('ZREM', deleted, id)
end

local function forget_old_deletions()
  local now = redis.call('TIME')
  local before = integer(now[1] * 1000 + math.floor(now[2] / 1000) - DELETION_KEPT_MS)
  local old = redis.call('ZRANGEBYSCORE', deleted, '-inf', before, 'LIMIT', 0, MAX_FORGOTTEN)
  if #old > 0 then redis.call('ZREM', deleted, unpack(old)) end
end

-- Live calls run the versions of a flow that is deleted.
local function keep_versions(id, is_deletion)
  local versions = 'flow' .. string.sub(KEYS[1], 6) .. ':' .. id
  if is_deletion then
    redis.call('EXPIRE', versions, MAX_CALL_S)
  else
    redis.call('PERSIST', versions)
  end
end

local function write(id, body)
  if form == 'flow' then keep_versions(id, not body) end
  if body and body ~= 0 then
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
  local stored, owner = stored_version(id)
  if version >= stored then
    write(id, body)
    record(id, version, not body, stored, owner)
  end
  results[place] = math.max(version, stored)
end
forget_old_deletions()
return cmsgpack.pack(results)
