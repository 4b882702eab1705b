//! The scripts of Redis, each atomic.
//!
//! `<prefix>:<day>` is a hash: `epoch` names the counting that is under way, `server` the process of Redis in which it began,
//! `careful` until when (milliseconds) gateways keep to their parts, and one field for each subject has `day's count, minute's
//! count, minute`. All of it is one key, so that it is lost as a whole or not at all. The clock is that of Redis.

use redis::Script;

/// Every script begins so: the time, and the hash of today with the counting of the caller. Where the day is new, the
/// hash of yesterday is followed by an empty one; where it is another counting or none, the script ends with -1.
const BEGIN: &str = r"
local time = redis.call('TIME')
local micros = time[1] * 1000000 + time[2]
local millis = math.floor(micros / 1000)
local minute, day = math.floor(millis / 60000), math.floor(millis / 86400000)
local today = KEYS[1] .. ':' .. string.format('%.0f', day)
local function is_under_way(epoch)
  local held = redis.call('HGET', today, 'epoch')
  if held then return held == epoch end
  local yesterday = KEYS[1] .. ':' .. string.format('%.0f', day - 1)
  local before = redis.call('HMGET', yesterday, 'epoch', 'server', 'careful')
  if before[1] ~= epoch then return false end
  redis.call('DEL', today)
  redis.call('HSET', today, 'epoch', epoch, 'server', before[2], 'careful', before[3])
  redis.call('PEXPIRE', today, 172800000)
  redis.call('UNLINK', yesterday)
  return true
end
local function counted(field)
  local text = redis.call('HGET', today, field)
  if not text then return 0, 0, minute end
  local in_day, in_minute, of = string.match(text, '^(%d+) (%d+) (%d+)$')
  return tonumber(in_day), tonumber(in_minute), tonumber(of)
end
local function enter(field, in_day, in_minute, of)
  redis.call('HSET', today, field, string.format('%.0f %.0f %.0f', in_day, in_minute, of))
end
";

/// Epoch, latest time; then subject, limit of the minute and of the day (-1: none), and of the caller: minute, grants in it,
/// part; day, grants in it, part. Returns whether it is admitted, the minute, its count, the day, its count, and the remaining requests of
/// both (-1: no limit).
const ADMIT: &str = r"
if millis > tonumber(ARGV[2]) then return {-2} end
if not is_under_way(ARGV[1]) then return {-1} end
local in_day, in_minute, of = counted(ARGV[3])
if of < minute then in_minute, of = 0, minute end
local careful = millis < tonumber(redis.call('HGET', today, 'careful'))
local function left(limit, count, number, own_number, own, part)
  if limit < 0 then return -1 end
  local rest = limit - count
  if careful then
    if own_number ~= number then own = 0 end
    rest = math.min(rest, part - own)
  end
  return math.max(rest, 0)
end
local function of_minute()
  return left(tonumber(ARGV[4]), in_minute, of, tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]))
end
local function of_day()
  return left(tonumber(ARGV[5]), in_day, day, tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11]))
end
local minute_left, day_left, admitted = of_minute(), of_day(), 0
if minute_left ~= 0 and day_left ~= 0 then
  admitted = 1
  in_minute, in_day = in_minute + 1, in_day + 1
  enter(ARGV[3], in_day, in_minute, of)
  if minute_left > 0 then minute_left = minute_left - 1 end
  if day_left > 0 then day_left = day_left - 1 end
end
return {admitted, of, in_minute, day, in_day, minute_left, day_left}
";

/// Epoch, latest time, client, and in microseconds: interval, burst, longest wait. Returns whether a slot is granted, the wait,
/// the remaining requests, and when the bucket is full again. A bucket is a key of its own that ends when it is full.
const RESERVE: &str = r"
if millis > tonumber(ARGV[2]) then return {-2} end
if not is_under_way(ARGV[1]) then return {-1} end
local key = KEYS[1] .. ':client:' .. ARGV[3]
local interval, burst, longest = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local full = tonumber(redis.call('GET', key) or micros)
full = math.max(micros, math.min(full, micros + burst + longest))
local wait = math.max(full + interval - micros - burst, 0)
local granted = 0
if wait <= longest then
  granted, full = 1, full + interval
  redis.call('SET', key, string.format('%.0f', full), 'PX', math.ceil((full - micros) / 1000))
end
return {granted, wait, math.floor(math.max(burst - (full - micros), 0) / interval), full}
";

/// Epoch, latest time, client, interval in microseconds: releases the last slot of a client.
const GIVE_BACK: &str = r"
if millis > tonumber(ARGV[2]) then return {-2} end
if not is_under_way(ARGV[1]) then return {-1} end
local key = KEYS[1] .. ':client:' .. ARGV[3]
local full = tonumber(redis.call('GET', key) or micros) - tonumber(ARGV[4])
if full <= micros then
  redis.call('DEL', key)
else
  redis.call('SET', key, string.format('%.0f', full), 'PX', math.ceil((full - micros) / 1000))
end
return {1}
";

/// Epoch. Returns 1 and the time in milliseconds.
const CHECK: &str = r"
if not is_under_way(ARGV[1]) then return {-1} end
return {1, millis}
";

/// The process of Redis, a new name, milliseconds for building. Returns the counting that is under way, or that the caller is to
/// build one under the new name, or that another one does.
const OPEN: &str = r"
local function epoch_of(key)
  local held = redis.call('HMGET', key, 'epoch', 'server')
  if held[1] and held[2] == ARGV[1] then return held[1] end
end
local epoch = epoch_of(today) or epoch_of(KEYS[1] .. ':' .. string.format('%.0f', day - 1))
if epoch and is_under_way(epoch) then return {'epoch', epoch} end
local held = redis.call('HMGET', today, 'builder', 'until', 'server')
if held[1] and held[3] == ARGV[1] and tonumber(held[2]) > millis then return {'wait', ''} end
redis.call('DEL', today)
redis.call('HSET', today, 'builder', ARGV[2], 'until', string.format('%.0f', millis + ARGV[3]), 'server', ARGV[1])
redis.call('PEXPIRE', today, 172800000)
return {'build', ARGV[2]}
";

/// Name of the counting, the day; then subject, day's count, minute's count, minute, again and again: no count is below these
/// from now on. Idempotent.
const RAISE: &str = r"
local held = redis.call('HMGET', today, 'epoch', 'builder')
if held[1] ~= ARGV[1] and held[2] ~= ARGV[1] then return {-1} end
if tonumber(ARGV[2]) ~= day then return {1} end
for at = 3, #ARGV, 4 do
  local in_day, in_minute, of = counted(ARGV[at])
  local new_minute = tonumber(ARGV[at + 3])
  if new_minute > of then
    in_minute, of = tonumber(ARGV[at + 2]), new_minute
  elseif new_minute == of then
    in_minute = math.max(in_minute, tonumber(ARGV[at + 2]))
  end
  enter(ARGV[at], math.max(in_day, tonumber(ARGV[at + 1])), in_minute, of)
end
return {1}
";

/// Name of the counting, milliseconds: the built counting is under way from now on; and for at least so long every gateway keeps to its
/// part, because another one may still have counts to add.
const BE_CAREFUL: &str = r"
local held = redis.call('HMGET', today, 'epoch', 'builder', 'careful')
if held[1] ~= ARGV[1] and held[2] ~= ARGV[1] then return {-1} end
local careful = math.max(tonumber(held[3] or 0), millis + ARGV[2])
redis.call('HDEL', today, 'builder', 'until')
redis.call('HSET', today, 'epoch', ARGV[1], 'careful', string.format('%.0f', careful))
return {1, millis}
";

pub(super) struct Scripts {
    pub(super) admit: Script,
    pub(super) reserve: Script,
    pub(super) give_back: Script,
    pub(super) check: Script,
    pub(super) open: Script,
    pub(super) raise: Script,
    pub(super) be_careful: Script,
}

impl Scripts {
    pub(super) fn new() -> Self {
        let script = |rest: &str| Script::new(&format!("{BEGIN}{rest}"));
        Self {
            admit: script(ADMIT),
            reserve: script(RESERVE),
            give_back: script(GIVE_BACK),
            check: script(CHECK),
            open: script(OPEN),
            raise: script(RAISE),
            be_careful: script(BE_CAREFUL),
        }
    }
}
