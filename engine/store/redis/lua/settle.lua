-- Records the outcome of calls' events. ARGV: msgpack of {token, limits, settlements}, each settlement
-- {call, delivered, given_up, tries, retry_after_ms, give_up_reason}: numbers of delivered events;
-- {seq, reason, tries} of events given up; attempts at the first event (-1: unchanged); when the call
-- is due next (-1: unchanged); why all other events are given up ('': they are not). May be repeated.
-- Returns 1, or the owner's name when another engine owns the shard.
local token, limits, settlements = unpack(cmsgpack.unpack(ARGV[1]))
local stored_owner = redis.call('HMGET', KEYS[1], 'token', 'owner')
if tonumber(stored_owner[1] or -1) ~= token then return stored_owner[2] or '' end

local function give_up(id, delivery_key, from, to, reason, tries)
  local key = shard .. ':due:' .. id
  local found = redis.call('ZRANGEBYSCORE', key, from, to, 'WITHSCORES')
  for at = 1, #found, 2 do
    dead_letter(id, delivery_key, found[at + 1], found[at], reason, tries, limits)
    remove(id, delivery_key, found[at + 1])
  end
end

for _, settlement in ipairs(settlements) do
  local id, delivered, given_up, tries, retry_after_ms, give_up_reason = unpack(settlement)
  local delivery_key = redis.call('HGET', shard .. ':ways', id)
  if delivery_key then
    for _, seq in ipairs(delivered) do remove(id, delivery_key, seq) end
    for _, event in ipairs(given_up) do
      give_up(id, delivery_key, event[1], event[1], event[2], event[3])
    end
    if give_up_reason ~= '' then give_up(id, delivery_key, '-inf', '+inf', give_up_reason, 0) end
    if not delete_if_empty(id) then
      if tries >= 0 then redis.call('HSET', shard .. ':tries', id, tries) end
      if retry_after_ms >= 0 then schedule(id, retry_after_ms, 'XX') end
    end
  end
end
return 1
