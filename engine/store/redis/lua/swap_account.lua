-- Replaces an account's callback settings if they are unchanged since they were read.
-- KEYS[1]: the settings. ARGV: the settings as read, the new ones; '' for none. May be repeated.
-- Returns 1, or 0 when others have been stored since.
local stored = redis.call('GET', KEYS[1]) or ''
if stored == ARGV[2] then return 1 end
if stored ~= ARGV[1] then return 0 end
if ARGV[2] == '' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[2])
end
return 1
