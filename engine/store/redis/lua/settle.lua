-- Notes what became of calls' events. ARGV: msgpack of {token, room, settlements}, each settlement
-- {call, done, dead, tries, after_ms, rest}: numbers of events that were delivered; {seq, reason,
-- tries} of those given up; how often the first was tried (-1: as it was); when to look next (-1:
-- as it was); why all others are given up ('': they are not). May be repeated.
-- Returns 1, or the owner's name when the slot is another's.
local token, room, settlements = unpack(cmsgpack.unpack(ARGV[1]))
local owned = redis.call('HMGET', KEYS[1], 'token', 'owner')
if tonumber(owned[1] or -1) ~= token then return owned[2] or '' end

local function give_up(id, way, from, to, reason, tries)
  local key = slot .. ':due:' .. id
  local found = redis.call('ZRANGEBYSCORE', key, from, to, 'WITHSCORES')
  for at = 1, #found, 2 do
    bury(id, way, found[at + 1], found[at], reason, tries, room)
    remove(id, way, found[at + 1])
  end
end

for _, settlement in ipairs(settlements) do
  local id, done, dead, tries, after_ms, rest = unpack(settlement)
  local way = redis.call('HGET', slot .. ':ways', id)
  if way then
    for _, seq in ipairs(done) do remove(id, way, seq) end
    for _, each in ipairs(dead) do give_up(id, way, each[1], each[1], each[2], each[3]) end
    if rest ~= '' then give_up(id, way, '-inf', '+inf', rest, 0) end
    if not forget_if_done(id) then
      if tries >= 0 then redis.call('HSET', slot .. ':tries', id, tries) end
      if after_ms >= 0 then look(id, after_ms, 'XX') end
    end
  end
end
return 1
