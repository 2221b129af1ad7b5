-- Functions that limit a shard's stream, prepended to the scripts that use them.
local SLACK = 100 -- Redis trims whole nodes of a stream, of up to this many entries
local MAX_TRIMMED = 10000 -- entries in one go, as XTRIM has it by default: the script holds the store

local function is_before(one, other)
  local one_ms, one_seq = string.match(one, '(%d+)-(%d+)')
  local ms, seq = string.match(other, '(%d+)-(%d+)')
  if one_ms ~= ms then return tonumber(one_ms) < tonumber(ms) end
  return tonumber(one_seq) < tonumber(seq)
end

-- Returns, for each group, the first entry that it has not acknowledged; its last one without any.
local function acknowledged_floors(stream)
  local floors = {}
  for _, group in ipairs(redis.call('XINFO', 'GROUPS', stream)) do
    local fields = {}
    for at = 1, #group, 2 do fields[group[at]] = group[at + 1] end
    local pending = redis.call('XPENDING', stream, fields['name'])
    local last = fields['last-delivered-id']
    local next_one = redis.call('XRANGE', stream, '(' .. last, '+', 'COUNT', 1)[1]
    floors[fields['name']] = pending[1] > 0 and pending[2] or next_one and next_one[1] or last
  end
  return floors
end

local function lowest_floor(floors)
  local lowest
  for _, floor in pairs(floors) do
    if not lowest or is_before(floor, lowest) then lowest = floor end
  end
  return lowest
end

-- Records which entries groups lose, and how many at most, until the groups acknowledge it.
local function record_gaps(gaps, floors, first, trimmed)
  for name, floor in pairs(floors) do
    if is_before(floor, first) then
      local stored = redis.call('HGET', gaps, name)
      local since, _, lost = floor, nil, 0
      if stored then since, _, lost = unpack(cmsgpack.unpack(stored)) end
      redis.call('HSET', gaps, name, cmsgpack.pack({since, first, lost + trimmed}))
    end
  end
end

-- Removes the oldest entries: above target_length those that every group has acknowledged, above
-- max_length any.
local function trim_stream(stream, gaps, target_length, max_length)
  local length = redis.call('XLEN', stream)
  if length <= target_length + SLACK then return end
  local floors = acknowledged_floors(stream)
  local lowest = lowest_floor(floors)
  if not lowest then return redis.call('XTRIM', stream, 'MAXLEN', '~', target_length) end
  local excess = math.min(length - target_length, MAX_TRIMMED)
  length = length - redis.call('XTRIM', stream, 'MINID', '~', lowest, 'LIMIT', excess)
  if length <= max_length + SLACK then return end
  local trimmed = redis.call('XTRIM', stream, 'MAXLEN', '~', max_length)
  if trimmed > 0 then
    local first = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1][1]
    record_gaps(gaps, floors, first, trimmed)
  end
end
