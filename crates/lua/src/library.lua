-- Builds the environment of a script: new tables that contain only the names listed here. The library's own functions are
-- hidden. Their long loops, which no hook interrupts, are written in Lua here, charged to the budget, or left out.
local own = ...
local spend, weigh, caught, is_over, placed = own.spend, own.weigh, own.caught, own.is_over, own.placed
local scan, replace = own.scan, own.replace

local error, getmetatable, load, rawget, select = error, getmetatable, load, rawget, select
local setmetatable, tonumber, tostring, type, xpcall = setmetatable, tonumber, tostring, type, xpcall
local collectgarbage = collectgarbage
local concat, sort, unpack = table.concat, table.sort, table.unpack
local sub, rep = string.sub, string.rep
local tointeger, kind_of_number = math.tointeger, math.type

-- A function of the library that reads its texts once from end to end.
local function paid(native)
  return function(...)
    weigh(...)
    return native(...)
  end
end

local function wrong(position, name, wanted, value, level)
  local words = "bad argument #" .. position .. " to '" .. name .. "' (" .. wanted .. " expected, got " .. type(value) .. ")"
  error(words, (level or 1) + 2)
end

local function whole(value, position, name)
  local number = tointeger(tonumber(value))
  if not number then wrong(position, name, "integer", value, 2) end
  return number
end

local function text(value, position, name)
  if type(value) == "number" then return tostring(value) end
  if type(value) ~= "string" then wrong(position, name, "string", value, 2) end
  return value
end

-- Base ---------------------------------------------------------------------------------------------------------------

local env = {
  _VERSION = _VERSION,
  assert = assert,
  error = error,
  getmetatable = getmetatable,
  ipairs = ipairs,
  next = next,
  pairs = pairs,
  rawequal = rawequal,
  rawget = rawget,
  rawlen = rawlen,
  rawset = rawset,
  select = select,
  tostring = tostring,
  type = type,
}
env._G = env

function env.tonumber(value, ...)
  -- A whole number beyond 64 bits.
  if type(value) == "userdata" then return value + 0 end
  weigh(value)
  return tonumber(value, ...)
end

-- Prints nothing, because there is no output; scripts that were written for a console still run.
function env.print(...) end

function env.collectgarbage(option)
  if option == "count" then return collectgarbage("count") end
  return 0
end

-- Finalizers run without hooks, so none ever comes to be: the mark is set when a metatable with `__gc` is set.
function env.setmetatable(...)
  local _, metatable = ...
  if type(metatable) == "table" and rawget(metatable, "__gc") ~= nil then
    error("a metatable with __gc is not allowed", 2)
  end
  return setmetatable(...)
end

local function settle(ok, ...)
  if ok then return true, ... end
  return false, caught((...))
end

function env.pcall(f, ...)
  return settle(xpcall(f, placed, ...))
end

-- A handler is run where the error was raised, and where a hook raised it no further hook runs.
function env.xpcall(f, handler, ...)
  local function handle(raised)
    if is_over(raised) then return raised end
    return handler(caught(placed(raised)))
  end
  return settle(xpcall(f, handle, ...))
end

local function gathered(reader)
  local pieces, size = {}, 0
  while true do
    local piece = reader()
    if piece == nil or piece == "" then return concat(pieces) end
    if type(piece) ~= "string" then error("reader function must return a string", 3) end
    size = size + #piece
    if size > own.source_bytes_max then return nil end
    pieces[#pieces + 1] = piece
  end
end

function env.load(chunk, name, mode, ...)
  local source = chunk
  if type(chunk) == "function" then
    source = gathered(chunk)
    name = name or "=(load)"
  elseif type(chunk) ~= "string" then
    wrong(1, "load", "string", chunk)
  end
  if not source or #source > own.source_bytes_max then return nil, "chunk is too large" end
  if mode ~= nil and mode ~= "t" and mode ~= "bt" then return nil, "attempt to load a text chunk (mode is 'b')" end
  weigh(source)
  local globals = env
  if select("#", ...) > 0 then globals = (...) end
  local loaded, words = load(source, name, "t", globals)
  if loaded then return loaded end
  return nil, caught(words)
end

-- Text ---------------------------------------------------------------------------------------------------------------

local strings = {
  byte = string.byte,
  char = string.char,
  find = own.find,
  format = paid(string.format),
  len = string.len,
  lower = paid(string.lower),
  match = own.match,
  pack = paid(string.pack),
  packsize = paid(string.packsize),
  reverse = paid(string.reverse),
  sub = string.sub,
  unpack = paid(string.unpack),
  upper = paid(string.upper),
}

-- An empty text repeated 2^62 times is a loop of 2^62 steps.
function strings.rep(s, n, separator)
  local count = tonumber(n)
  if count and count > 1 then spend(count / 8) end
  weigh(s, separator)
  return rep(s, n, separator)
end

function strings.gmatch(s, pattern, init)
  s, pattern = text(s, 1, "gmatch"), text(pattern, 2, "gmatch")
  local from = init == nil and 1 or whole(init, 3, "gmatch")
  if from < 0 then from = #s + from + 1 end
  if from < 1 then from = 1 end
  local last = 0
  local function step(first, after, ...)
    if not first then
      from = #s + 2
      return nil
    end
    from, last = after, after
    return ...
  end
  return function()
    if from > #s + 1 then return nil end
    return step(scan(s, pattern, from, last, false, false))
  end
end

local function value_for(by, first, after, ...)
  if not first then return end
  if type(by) == "table" then return first, after, by[(...)] end
  return first, after, (by(...))
end

local function replaced_by(s, pattern, by, most)
  local anchored = sub(pattern, 1, 1) == "^"
  local parts, count, from, last = {}, 0, 1, 0
  while count < most do
    local first, after, value = value_for(by, scan(s, pattern, from, last, anchored, type(by) == "table"))
    if not first then break end
    count = count + 1
    parts[#parts + 1] = sub(s, from, first - 1)
    if not value then
      value = sub(s, first, after - 1)
    elseif type(value) ~= "string" and type(value) ~= "number" then
      error("invalid replacement value (a " .. type(value) .. ")", 3)
    end
    parts[#parts + 1] = value
    from, last = after, after
    if anchored then break end
  end
  parts[#parts + 1] = sub(s, from)
  return concat(parts), count
end

function strings.gsub(s, pattern, by, most)
  s, pattern = text(s, 1, "gsub"), text(pattern, 2, "gsub")
  most = most == nil and #s + 1 or whole(most, 4, "gsub")
  local kind = type(by)
  if kind == "string" or kind == "number" then return replace(s, pattern, by, most) end
  if kind ~= "table" and kind ~= "function" then wrong(3, "gsub", "string/function/table", by) end
  local result, count = replaced_by(s, pattern, by, most)
  return result, count
end

env.string = strings
local texts = getmetatable("")
texts.__index = strings
texts.__metatable = false

-- Tables -------------------------------------------------------------------------------------------------------------
-- Lengths may be whatever `__len` says, so the loops are Lua's, where every round is counted.

local function table_argument(value, position, name)
  if type(value) ~= "table" then wrong(position, name, "table", value, 2) end
end

local tables = { pack = table.pack }

function tables.insert(list, ...)
  table_argument(list, 1, "insert")
  local count = select("#", ...)
  local after = #list + 1
  if count == 1 then
    list[after] = (...)
  elseif count == 2 then
    local position, value = ...
    position = whole(position, 2, "insert")
    if position < 1 or position > after then error("bad argument #2 to 'insert' (position out of bounds)", 2) end
    for index = after, position + 1, -1 do list[index] = list[index - 1] end
    list[position] = value
  else
    error("wrong number of arguments to 'insert'", 2)
  end
end

function tables.remove(list, ...)
  table_argument(list, 1, "remove")
  local size = #list
  local position = size
  if (...) ~= nil then position = whole((...), 2, "remove") end
  if position ~= size and (position < 1 or position > size + 1) then
    error("bad argument #2 to 'remove' (position out of bounds)", 2)
  end
  local value = list[position]
  for index = position, size - 1 do list[index] = list[index + 1] end
  list[position < size and size or position] = nil
  return value
end

function tables.move(from, first, last, at, into)
  table_argument(from, 1, "move")
  first, last, at = whole(first, 2, "move"), whole(last, 3, "move"), whole(at, 4, "move")
  if into == nil then into = from end
  table_argument(into, 5, "move")
  if last < first then return into end
  if first <= 0 and last >= math.maxinteger + first then
    error("bad argument #3 to 'move' (too many elements to move)", 2)
  end
  if at > math.maxinteger - (last - first) then error("bad argument #4 to 'move' (destination wrap around)", 2) end
  if at > last or at <= first or into ~= from then
    for offset = 0, last - first do into[at + offset] = from[first + offset] end
  else
    for offset = last - first, 0, -1 do into[at + offset] = from[first + offset] end
  end
  return into
end

function tables.concat(list, separator, first, last)
  table_argument(list, 1, "concat")
  separator = separator == nil and "" or text(separator, 2, "concat")
  first = first == nil and 1 or whole(first, 3, "concat")
  last = last == nil and #list or whole(last, 4, "concat")
  local parts, count = {}, 0
  if first <= last then
    for index = first, last do
      local part = list[index]
      if type(part) ~= "string" and type(part) ~= "number" then
        error("invalid value (at index " .. index .. ") in table for 'concat'", 2)
      end
      count = count + 1
      parts[count] = part
    end
  end
  weigh(separator)
  return concat(parts, separator)
end

function tables.unpack(list, first, last)
  first = first == nil and 1 or whole(first, 2, "unpack")
  last = last == nil and #list or whole(last, 3, "unpack")
  -- A range that wraps around is refused by the library.
  if first <= last and last - first > 0 then spend(last - first < 1000000 and last - first or 1) end
  return unpack(list, first, last)
end

local function before(a, b)
  return a < b
end

function tables.sort(list, less)
  table_argument(list, 1, "sort")
  if less == nil then
    less = before
  elseif type(less) ~= "function" then
    wrong(2, "sort", "function", less)
  end
  return sort(list, less)
end

env.table = tables

-- Numbers and code points --------------------------------------------------------------------------------------------

local numbers = {}
for name, value in next, math do numbers[name] = value end
env.math = numbers

env.utf8 = {
  char = utf8.char,
  charpattern = utf8.charpattern,
  codepoint = paid(utf8.codepoint),
  codes = paid(utf8.codes),
  len = paid(utf8.len),
  offset = paid(utf8.offset),
}

local function protected(script)
  return xpcall(script, placed)
end

return env, protected
