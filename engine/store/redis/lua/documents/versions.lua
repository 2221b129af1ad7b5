-- Versions of documents, in keys of the same hash slot as the documents (KEYS[1]).
-- {…}:versions:ACCOUNT has the versions by id, {…}:sums the checksum of each account,
-- {…}:deleted the versions of deletions. In tables that accounts share, {…}:owners has the account of
-- each document. A checksum is the sum of digests modulo 2^48: doubles hold it exactly.
-- Engines' own versions are odd, those of the database are even.
local MODULUS = 2 ^ 48
local DELETION_KEPT_MS = 604800000
local MAX_FORGOTTEN = 100 -- deletions, of a change
local is_tagged = string.find(KEYS[1], '{', 1, true)
local prefix = is_tagged and KEYS[1] or '{' .. KEYS[1] .. '}'
local owners, sums, deleted = prefix .. ':owners', prefix .. ':sums', prefix .. ':deleted'

local function integer(number) return string.format('%.0f', number) end

local function versions_of(account) return prefix .. ':versions:' .. account end

local function digest(id, version)
  return tonumber(string.sub(redis.sha1hex(id .. ':' .. integer(version)), 1, 12), 16)
end

local function add_to_sum(account, number)
  local sum = tonumber(redis.call('HGET', sums, account) or 0)
  redis.call('HSET', sums, account, integer((sum + number) % MODULUS))
end

-- Returns the version under an id, and the account that has the document; nil: there is none.
local function stored_version(id, account, is_shared)
  local owner = account
  if is_shared then owner = redis.call('HGET', owners, id) end
  local version = owner and redis.call('HGET', versions_of(owner), id)
  if version then return tonumber(version), owner end
  return tonumber(redis.call('ZSCORE', deleted, id) or 0), nil
end

local function server_ms()
  local now = redis.call('TIME')
  return now[1] * 1000 + math.floor(now[2] / 1000)
end

local function next_version(stored)
  local version = math.max(stored + 1, server_ms())
  return version + 1 - version % 2
end

local function forget(id, owner, version)
  if not owner then return end
  redis.call('HDEL', versions_of(owner), id)
  redis.call('HDEL', owners, id)
  add_to_sum(owner, -digest(id, version))
end

-- A deleted flow's last number (put_flow.lua) is kept until the versions expire that calls may run.
local function forget_old_deletions()
  local is_flows = string.sub(KEYS[1], 1, 6) == 'flows:'
  local before = integer(server_ms() - DELETION_KEPT_MS)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', deleted, '-inf', before, 'LIMIT', 0, MAX_FORGOTTEN)) do
    local versions = 'flow' .. string.sub(KEYS[1], 6) .. ':' .. id
    if not is_flows or redis.call('EXISTS', versions) == 0 then
      if is_flows then redis.call('HDEL', KEYS[1], id .. ':last') end
      redis.call('ZREM', deleted, id)
    end
  end
end

local function record(id, version, account, is_shared, stored, owner)
  forget_old_deletions()
  forget(id, owner, stored)
  redis.call('HSET', versions_of(account), id, integer(version))
  if is_shared then redis.call('HSET', owners, id, account) end
  add_to_sum(account, digest(id, version))
  redis.call('ZREM', deleted, id)
end

local function record_deletion(id, version, stored, owner)
  forget(id, owner, stored)
  redis.call('ZADD', deleted, integer(version), id)
  forget_old_deletions()
end
