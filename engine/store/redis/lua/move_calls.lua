-- Moves all that is stored of calls from a slot of earlier versions to their shards. May be repeated.
-- KEYS: {node:slot}:owner. ARGV: msgpack of {retention_ms, {{call, shard's hash tag, end of its id}, …}}.
-- It runs on one server: earlier versions know no cluster.
local from = string.match(KEYS[1], '^{.-}')
local retention_ms, calls = unpack(cmsgpack.unpack(ARGV[1]))

local function move_callbacks(id, to)
  redis.call('RENAME', from .. ':due:' .. id, to .. ':due:' .. id)
  for _, table in ipairs({':ways', ':tries'}) do
    local value = redis.call('HGET', from .. table, id)
    if value then redis.call('HSET', to .. table, id, value) end
    redis.call('HDEL', from .. table, id)
  end
  for _, index in ipairs({':outbox', ':since'}) do
    local at_ms = redis.call('ZSCORE', from .. index, id)
    if at_ms then redis.call('ZADD', to .. index, at_ms, id) end
    redis.call('ZREM', from .. index, id)
  end
  local count = redis.call('ZCARD', to .. ':due:' .. id)
  local account = string.match(redis.call('HGET', to .. ':ways', id) or '', '^%S+') or ''
  redis.call('HINCRBY', to .. ':waiting', account, count)
  redis.call('HINCRBY', to .. ':waiting', '*', count)
end

local function move(id, to, tail)
  local kept_ms
  local record = redis.call('HGET', from .. ':live', id)
  if record then
    redis.call('HSET', to .. ':live', id, record)
    redis.call('HDEL', from .. ':live', id)
    kept_ms = retention_ms
  elseif redis.call('EXISTS', from .. ':ended:' .. id) == 1 then
    redis.call('RENAME', from .. ':ended:' .. id, to .. ':ended:' .. id)
    kept_ms = redis.call('PTTL', to .. ':ended:' .. id)
    local ended_ms = redis.call('ZSCORE', from .. ':uncompressed', id)
    if ended_ms then redis.call('ZADD', to .. ':uncompressed', ended_ms, id) end
  end
  if redis.call('EXISTS', from .. ':log:' .. id) == 1 then
    redis.call('RENAME', from .. ':log:' .. id, to .. ':log:' .. id)
  end
  if redis.call('EXISTS', from .. ':due:' .. id) == 1 then move_callbacks(id, to) end
  if kept_ms and kept_ms > 0 then redis.call('SET', 'request:' .. tail, id, 'NX', 'PX', kept_ms) end
end

for _, call in ipairs(calls) do move(unpack(call)) end
return #calls
