-- Functions for the outbox, prepended to the scripts that use it. KEYS: {node:slot}:owner.
-- {node:slot}:due:<call>  undelivered events of a call, by number
-- {node:slot}:outbox      when each such call is due next
-- {node:slot}:ways        delivery key of each call: "account target"
-- {node:slot}:tries       attempts at the call's first event
-- {node:slot}:since       since when the call has had undelivered events
-- {node:slot}:waiting     number of pending events, by account, and in total ("*")
-- {node:slot}:dead:<account>  a stream of dead letters
local shard = string.match(KEYS[1], '^{.-}')
local clock = redis.call('TIME')
local now_ms = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function to_integer(number) return string.format('%.0f', number) end

local function account_of(delivery_key) return string.match(delivery_key, '^%S+') end

local function add_to_count(delivery_key, by)
  local account = account_of(delivery_key)
  if redis.call('HINCRBY', shard .. ':waiting', account, by) <= 0 then
    redis.call('HDEL', shard .. ':waiting', account)
  end
  redis.call('HINCRBY', shard .. ':waiting', '*', by)
end

local function dead_letter(id, delivery_key, seq, event, reason, tries, limits)
  local key = shard .. ':dead:' .. account_of(delivery_key)
  redis.call('XADD', key, 'MAXLEN', '~', limits.max_dead_letters, '*', 'c', id, 'w', delivery_key,
    's', seq, 'e', event, 'r', reason, 't', tries)
  redis.call('PEXPIRE', key, to_integer(limits.dead_letter_ttl_ms))
end

-- Adds an event; returns false when its account has reached its limit.
local function add_pending(id, delivery_key, seq, event, limits)
  local counts = redis.call('HMGET', shard .. ':waiting', account_of(delivery_key), '*')
  local of_account, in_shard = tonumber(counts[1] or 0), tonumber(counts[2] or 0)
  local fair_share = (limits.max_per_shard - in_shard) / limits.fair_share_divisor
  if of_account >= math.max(limits.min_per_account, fair_share) then return false end
  if redis.call('ZADD', shard .. ':due:' .. id, seq, event) == 1 then add_to_count(delivery_key, 1) end
  redis.call('HSETNX', shard .. ':ways', id, delivery_key)
  redis.call('ZADD', shard .. ':since', 'NX', to_integer(now_ms), id)
  return true
end

local function schedule(id, after_ms, condition)
  redis.call('ZADD', shard .. ':outbox', condition, to_integer(now_ms + after_ms), id)
end

local function remove(id, delivery_key, seq)
  local removed = redis.call('ZREMRANGEBYSCORE', shard .. ':due:' .. id, seq, seq)
  if removed > 0 then add_to_count(delivery_key, -removed) end
  return removed
end

local function delete_if_empty(id)
  if redis.call('EXISTS', shard .. ':due:' .. id) == 1 then return false end
  for _, table in ipairs({':ways', ':tries'}) do redis.call('HDEL', shard .. table, id) end
  for _, index in ipairs({':outbox', ':since'}) do redis.call('ZREM', shard .. index, id) end
  return true
end
