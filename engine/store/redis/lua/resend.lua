-- Sends an account's dead letters again. ARGV: msgpack of {account, entries, limit, room}; without
-- entries, the oldest. Returns how many are due again; what finds no room stays dead.
local account, entries, limit, room = unpack(cmsgpack.unpack(ARGV[1]))
local key = slot .. ':dead:' .. account
local letters = {}
if #entries == 0 then letters = redis.call('XRANGE', key, '-', '+', 'COUNT', limit) end
for _, entry in ipairs(entries) do
  local found = redis.call('XRANGE', key, entry, entry)
  if found[1] then table.insert(letters, found[1]) end
end
local resent = 0
for _, letter in ipairs(letters) do
  local fields = {}
  for at = 1, #letter[2], 2 do fields[letter[2][at]] = letter[2][at + 1] end
  local id = fields.c
  if await(id, fields.w, fields.s, fields.e, room) then
    redis.call('HDEL', slot .. ':tries', id)
    redis.call('ZADD', slot .. ':outbox', whole(now_ms), id)
    redis.call('XDEL', key, letter[1])
    resent = resent + 1
  end
end
return resent
