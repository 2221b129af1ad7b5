-- Commits one shard's batch of changes, all or nothing.
-- KEYS: {node:slot}:owner. ARGV: msgpack of {token, number, retention_ms, {target_length, max_length, …},
-- create, limits, sent, changes}, each change {call_id, record, seq, log, events, is_live, delivery_key,
-- callbacks, first_seq, account, used_ms, is_unsent}. Returns 1 when stored, or -n when the outbox was full for n events, 2 when
-- a call to create exists, the owner's name when the token is stale.
-- All keys share the shard's hash tag, so they lie on one node of a cluster, declared or not.
local token, number, retention_ms, stream_limits, create, limits, sent, changes = unpack(cmsgpack.unpack(ARGV[1]))
local stored_owner = redis.call('HMGET', KEYS[1], 'token', 'owner')
if tonumber(stored_owner[1] or -1) ~= token then return stored_owner[2] or '' end

local live, stream, unsent = shard .. ':live', shard .. ':events', shard .. ':unsent'

local function append(key, entries, first)
  for from = first, #entries, 1000 do -- what unpack can put on Lua's stack is limited
    redis.call('RPUSH', key, unpack(entries, from, math.min(from + 999, #entries)))
  end
end

local function append_lost(key, count)
  if count <= 0 then return end
  local lost = {}
  for number = 1, math.min(count, 1000) do lost[number] = '' end
  for _ = 1, math.floor(count / 1000) do redis.call('RPUSH', key, unpack(lost)) end
  if count % 1000 > 0 then redis.call('RPUSH', key, unpack(lost, 1, count % 1000)) end
end

local overflowed = 0

local function add_callbacks(id, delivery_key, callbacks, first_seq)
  for offset, event in ipairs(callbacks) do
    local seq = first_seq + offset - 1
    if add_pending(id, delivery_key, seq, event, limits) then
      schedule(id, limits.claim_ms, 'NX') -- the committing engine delivers it; due in case it dies
    else
      dead_letter(id, delivery_key, seq, event, 'overflow', 0, limits)
      overflowed = overflowed + 1
    end
  end
end

-- Adds the time that an ended call has used to its account's of this day (UTC).
local function add_use(account, used_ms)
  local used = shard .. ':used:' .. math.floor(now_ms / 86400000)
  redis.call('HINCRBY', used, account, used_ms)
  redis.call('EXPIRE', used, 172800)
end

-- Returns the length of a compressed call's log (see compressed_call.py); 0: the call is not compressed.
local function compressed_length(id)
  local head = redis.call('GETRANGE', shard .. ':ended:' .. id, 0, 7)
  return string.sub(head, 1, 2) == '\0\193' and struct.unpack('>I4', head, 5) or 0
end

local function store(id, record, seq, entries, events, is_live, delivery_key, callbacks, first_seq,
    account, used_ms, is_unsent)
  local key = shard .. ':log:' .. id
  local stored = redis.call('LLEN', key)
  if stored == 0 and compressed_length(id) >= seq + #entries then return end
  if stored >= seq + #entries then return end -- a repetition, or older than what is stored
  append_lost(key, seq - stored) -- in a failover: keep numbering
  append(key, entries, math.max(stored - seq, 0) + 1)
  for _, event in ipairs(events) do
    redis.call('XADD', stream, '*', 'e', event)
  end
  add_callbacks(id, delivery_key, callbacks, first_seq)
  if is_live then
    redis.call('HSET', live, id, record)
  else
    local is_end = redis.call('HDEL', live, id) == 1 or stored == 0
    if is_end and used_ms > 0 then add_use(account, used_ms) end
    redis.call('SET', shard .. ':ended:' .. id, record, 'PX', retention_ms)
    redis.call('PEXPIRE', key, retention_ms)
    redis.call('ZADD', shard .. ':uncompressed', to_integer(now_ms), id)
    if is_unsent then redis.call('SADD', unsent, id) end -- the next owner sends its webhooks
  end
end

if create then
  local id, record = changes[1][1], changes[1][2]
  local stored = redis.call('HGET', live, id)
  if stored == record then return 1 end
  if stored or redis.call('EXISTS', shard .. ':ended:' .. id) == 1 then return 2 end
end
for _, change in ipairs(changes) do store(unpack(change)) end
for _, id in ipairs(sent) do redis.call('SREM', unsent, id) end
redis.call('HSET', KEYS[1], 'number', number)
trim_stream(stream, shard .. ':gaps', unpack(stream_limits))
return overflowed > 0 and -overflowed or 1
