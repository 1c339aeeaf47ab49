/**
 * What Redis does at once for limits that several gateways hold together. Times are its own, in microseconds; each is written
 * out in full, for Lua would round it. Every answer ends with how many gateways have asked in the last half a minute.
 */

const begin = `
local whole = function(n) return string.format('%.0f', n) end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local gateways = function(key, me)
  redis.call('ZADD', key, whole(now + 30000000), me)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', whole(now))
  redis.call('PEXPIRE', key, 30000)
  return redis.call('ZCARD', key)
end
`;

/**
 * KEYS: the calls of the last period by their time, the gateways. ARGV: threshold, period in milliseconds, id of the call, id of
 * the gateway. Answers 1 or 0, milliseconds until there is room, gateways. A clock that was set back makes calls of the
 * future ones of now.
 */
export const takeCall = `${begin}
local period = tonumber(ARGV[2]) * 1000
for _, ahead in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. whole(now), '+inf')) do
  redis.call('ZADD', KEYS[1], whole(now), ahead)
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', whole(now - period))
local count = gateways(KEYS[2], ARGV[4])
if redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[1]) then
  redis.call('ZADD', KEYS[1], whole(now), ARGV[3])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return { 1, 0, count }
end
local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
local wait = oldest[2] and (tonumber(oldest[2]) + period - now) or period
return { 0, math.ceil(wait / 1000), count }
`;

/**
 * KEYS: the permits by when they end, the gateways. ARGV: most, time to live in milliseconds, id of the permit, id of the gateway.
 * Answers 1 or 0, and gateways.
 */
export const takePermit = `${begin}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', whole(now))
local count = gateways(KEYS[2], ARGV[4])
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return { 0, count } end
redis.call('ZADD', KEYS[1], whole(now + tonumber(ARGV[2]) * 1000), ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return { 1, count }
`;

/** KEYS: the permits. ARGV: time to live in milliseconds, ids of permits. A permit that Redis has lost is there again. */
export const renewPermits = `${begin}
for index = 2, #ARGV do
  redis.call('ZADD', KEYS[1], whole(now + tonumber(ARGV[1]) * 1000), ARGV[index])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
`;

/** KEYS: calls or permits. ARGV: the id of one, which counts no more. */
export const forgetMember = `return redis.call('ZREM', KEYS[1], ARGV[1])`;
