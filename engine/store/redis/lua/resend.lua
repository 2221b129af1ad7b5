-- Makes an account's dead letters due again. ARGV: msgpack of {account, entries, limit, limits};
-- without entries, the oldest. Returns how many are due again; those over the limit stay dead.
local account, entries, limit, limits = unpack(cmsgpack.unpack(ARGV[1]))
local key = shard .. ':dead:' .. account
local dead_letters = {}
if #entries == 0 then dead_letters = redis.call('XRANGE', key, '-', '+', 'COUNT', limit) end
for _, entry in ipairs(entries) do
  local found = redis.call('XRANGE', key, entry, entry)
  if found[1] then table.insert(dead_letters, found[1]) end
end
local resent = 0
for _, message in ipairs(dead_letters) do
  local fields = {}
  for at = 1, #message[2], 2 do fields[message[2][at]] = message[2][at + 1] end
  local id = fields.c
  if add_pending(id, fields.w, fields.s, fields.e, limits) then
    redis.call('HDEL', shard .. ':tries', id)
    redis.call('ZADD', shard .. ':outbox', to_integer(now_ms), id)
    redis.call('XDEL', key, message[1])
    resent = resent + 1
  end
end
return resent
