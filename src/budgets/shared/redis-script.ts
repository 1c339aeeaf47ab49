/**
 * Puts new versions of tallies in the place of those that a gateway has read, each only where no other has written
 * meanwhile. What a tally means is known to the gateways alone.
 *
 * KEYS[1] says which epoch this is: it is new whenever Redis has lost what it had. The others are the tallies, each a
 * hash of `version` and `tally`. ARGV[1] is the gateway's epoch, ARGV[2] the name of a new one, ARGV[3] `1`
 * to begin a new one; then four for each tally: the version it was made from, its own, its text and its time to live.
 * Answers Redis's time, the epoch, its age, and for each tally 1 or the version and the text that are there.
 */
export const script = `
local whole = function(n) return string.format('%.0f', n) end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local epoch = redis.call('HMGET', KEYS[1], 'id', 'at')
if not epoch[1] or (ARGV[3] == '1' and epoch[1] == ARGV[1]) then
  epoch = { ARGV[2], whole(now) }
  redis.call('HSET', KEYS[1], 'id', epoch[1], 'at', epoch[2])
end
local answer = { whole(now), epoch[1], whole(now - tonumber(epoch[2])) }
for i = 2, #KEYS do
  local first = 4 * (i - 1)
  local there = redis.call('HMGET', KEYS[i], 'version', 'tally')
  if epoch[1] == ARGV[1] and (there[1] or '') == ARGV[first] then
    redis.call('HSET', KEYS[i], 'version', ARGV[first + 1], 'tally', ARGV[first + 2])
    redis.call('PEXPIRE', KEYS[i], ARGV[first + 3])
    answer[i + 2] = 1
  else
    answer[i + 2] = { there[1] or '', there[2] or '' }
  end
end
return answer
`;
