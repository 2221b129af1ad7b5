-- Part of commit.lua: how a slot's stream is kept short.
local SLACK = 100 -- Redis takes whole nodes of a stream off, of so many entries at most

local function is_before(one, other)
  local one_ms, one_seq = string.match(one, '(%d+)-(%d+)')
  local ms, seq = string.match(other, '(%d+)-(%d+)')
  if one_ms ~= ms then return tonumber(one_ms) < tonumber(ms) end
  return tonumber(one_seq) < tonumber(seq)
end

-- Gives each group's name, and the entry before which it has acknowledged everything.
local function floors(events)
  local found = {}
  for _, group in ipairs(redis.call('XINFO', 'GROUPS', events)) do
    local facts = {}
    for at = 1, #group, 2 do facts[group[at]] = group[at + 1] end
    local pending = redis.call('XPENDING', events, facts['name'])
    found[facts['name']] = pending[1] > 0 and pending[2] or facts['last-delivered-id']
  end
  return found
end

-- Notes what groups lose, and how much at most, until they say that they know it.
local function note(gaps, groups, first, cut)
  for name, floor in pairs(groups) do
    if is_before(floor, first) then
      local known = redis.call('HGET', gaps, name)
      local since, _, before = floor, nil, 0
      if known then since, _, before = unpack(cmsgpack.unpack(known)) end
      redis.call('HSET', gaps, name, cmsgpack.pack({since, first, before + cut}))
    end
  end
end

-- Takes the oldest entries off: above `most` those that every group has acknowledged, above the
-- ceiling any.
local function shorten(events, gaps, most, ceiling)
  local length = redis.call('XLEN', events)
  if length <= most + SLACK then return end
  local groups = floors(events)
  local lowest
  for _, floor in pairs(groups) do
    if not lowest or is_before(floor, lowest) then lowest = floor end
  end
  if not lowest then return redis.call('XTRIM', events, 'MAXLEN', '~', most) end
  length = length - redis.call('XTRIM', events, 'MINID', '~', lowest, 'LIMIT', length - most)
  if length <= ceiling + SLACK then return end
  local cut = redis.call('XTRIM', events, 'MAXLEN', '~', ceiling)
  if cut > 0 then note(gaps, groups, redis.call('XRANGE', events, '-', '+', 'COUNT', 1)[1][1], cut) end
end
