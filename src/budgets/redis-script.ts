/** For how long the claims of a gateway count that says nothing more. */
const LEASE_MS = 30_000;

/**
 * One step over the counters of one request, done by Redis as a whole: gives back what was held, counts what was used,
 * and holds what is asked for, if all of it fits.
 *
 * KEYS[1] has the gateways that are alive, each with the time of its last word; the others are the counters, each a hash
 * of `s:BUCKET` (used) and `h:GATEWAY:BUCKET` (held). ARGV[1] is JSON: `me` and one member of `ops` for each counter:
 * `rb`, `ra` (bucket and amount given back), `sb`, `sa` (counted), `b`, `a` (asked for), `lo`, `hi` (the buckets that
 * count), `old` (buckets before it are forgotten), `limit`, `ttl`, and `seed`, what to begin a new counter with.
 * Answers the place of the op that does not fit (0: all do) and the sum of each counter before anything new was held.
 */
export const script = `
local msg = cjson.decode(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, msg.me)
local whole = function(n) return string.format('%.0f', n) end
local living = {}
local alive = function(id)
  if living[id] == nil then
    local seen = redis.call('ZSCORE', KEYS[1], id)
    living[id] = seen ~= false and tonumber(seen) >= now - ${LEASE_MS}
  end
  return living[id]
end
for i, op in ipairs(msg.ops) do
  local key = KEYS[i + 1]
  if op.seed and redis.call('EXISTS', key) == 0 then
    for _, one in ipairs(op.seed) do redis.call('HINCRBY', key, 's:' .. whole(one[1]), whole(one[2])) end
  end
  if op.ra then
    local field = 'h:' .. msg.me .. ':' .. whole(op.rb)
    if redis.call('HINCRBY', key, field, whole(-op.ra)) <= 0 then redis.call('HDEL', key, field) end
  end
  if op.sa then redis.call('HINCRBY', key, 's:' .. whole(op.sb), whole(op.sa)) end
end
local refused = 0
local answer = { 0 }
for i, op in ipairs(msg.ops) do
  local key = KEYS[i + 1]
  local total = 0
  local all = redis.call('HGETALL', key)
  for j = 1, #all, 2 do
    local bucket
    if string.sub(all[j], 1, 1) == 's' then
      bucket = tonumber(string.sub(all[j], 3))
    else
      local id, text = string.match(all[j], '^h:(.-):(%d+)$')
      bucket = tonumber(text)
      if not alive(id) then redis.call('HDEL', key, all[j]); bucket = nil end
    end
    if bucket and bucket < op.old then redis.call('HDEL', key, all[j])
    elseif bucket and bucket >= op.lo and bucket <= op.hi then total = total + tonumber(all[j + 1]) end
  end
  answer[i + 1] = whole(total)
  if refused == 0 and op.a and op.a > 0 and total + op.a > op.limit then refused = i end
end
answer[1] = refused
for i, op in ipairs(msg.ops) do
  local key = KEYS[i + 1]
  if refused == 0 and op.a and op.a > 0 then
    redis.call('HINCRBY', key, 'h:' .. msg.me .. ':' .. whole(op.b), whole(op.a))
  end
  redis.call('PEXPIRE', key, whole(op.ttl))
end
return answer
`;
