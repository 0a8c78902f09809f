-- JSON lines over the daemon's socket: one connection, any number of requests, answers in any order.

local config = require('indexd.config')

local M = {}

---@class indexd.Failure
---@field message string
---@field hint string?
---@field code string

---@alias indexd.Done fun(failure: indexd.Failure?, result: table?)

---@class indexd.Request
---@field line string
---@field done indexd.Done
---@field progress (fun(p: {phase: string, done: integer, total: integer}))?
---@field sent integer Connections it was sent on.
---@field timer uv.uv_timer_t?
---@field again boolean? Whether it is to be sent again.
---@field on uv.uv_pipe_t? The connection it was sent on last.

local RETRIES_MAX = 10

---@type uv.uv_pipe_t?
local pipe
local is_connecting = false
local received = {} ---@type string[]
local last_id = 0
---@type table<integer, indexd.Request>
local pending = {}
local daemon_starts = 0
--- What the last answer said of itself.
M.last_envelope = nil ---@type table?

local function failure(message, hint, code)
  return { message = message, hint = hint, code = code or 'POC_E_DAEMON_UNAVAILABLE' }
end

---The path that PROTOCOL.md names; nil where only ctl can tell.
---@return string?
local function known_socket()
  if config.socket then return config.socket end
  local own, xdg = vim.env.INDEXD_RUNTIME_DIR, vim.env.XDG_RUNTIME_DIR
  local path
  if own and own:sub(1, 1) == '/' then
    path = own .. '/s'
  elseif xdg and xdg:sub(1, 1) == '/' then
    path = xdg .. '/indexd/s'
  end
  -- A longer path is none of a socket.
  return path and #path < 100 and path or nil
end

---@param id integer
---@param err indexd.Failure?
---@param result table?
local function finish(id, err, result)
  local request = pending[id]
  if not request then return end
  pending[id] = nil
  if request.timer then
    request.timer:stop()
    request.timer:close()
  end
  -- An answer that waited for nothing does not know whether it is fresh.
  if result and result.envelope and not request.is_stale then M.last_envelope = result.envelope end
  vim.schedule(function()
    request.done(err, result)
    vim.api.nvim_exec_autocmds('User', { pattern = 'IndexdAnswer', modeline = false })
  end)
end

local function finish_all(err)
  for _, id in ipairs(vim.tbl_keys(pending)) do
    finish(id, err)
  end
end

local connect

local function disconnect()
  if pipe and not pipe:is_closing() then pipe:close() end
  pipe, received = nil, {}
end

---What was asked for and not answered is asked again: requests change nothing.
local function lost()
  disconnect()
  if next(pending) then connect() end
end

local function again(id, after_ms)
  vim.defer_fn(function()
    if pending[id] then connect() end
  end, after_ms)
end

local function on_message(line)
  local ok, message = pcall(vim.json.decode, line, { luanil = { object = true, array = true } })
  if not ok then return finish_all(failure('the daemon sent no JSON', nil, 'POC_E_PARSE')) end
  if message.method == '$/progress' then
    local request = pending[message.params.id]
    if request and request.progress then vim.schedule(function() request.progress(message.params) end) end
    return
  end
  local request = message.id and pending[message.id]
  if not request then return end
  if not message.error then return finish(message.id, nil, message.result) end
  local data = message.error.data or {}
  if (data.code == 'POC_E_SHUTTING_DOWN' or data.code == 'POC_E_BUSY') and request.sent < RETRIES_MAX then
    request.again = true
    return vim.schedule(function()
      if data.code == 'POC_E_SHUTTING_DOWN' then disconnect() end
      again(message.id, data.retryAfterMs or 100)
    end)
  end
  finish(message.id, failure(message.error.message, data.hint, data.code))
end

local function on_bytes(bytes)
  local start = 1
  while true do
    local at = bytes:find('\n', start, true)
    if not at then break end
    received[#received + 1] = bytes:sub(start, at - 1)
    local line = table.concat(received)
    received, start = {}, at + 1
    if line ~= '' then on_message(line) end
  end
  received[#received + 1] = bytes:sub(start)
end

local function send_all()
  for id, request in pairs(pending) do
    if request.sent == 0 or request.again or request.on ~= pipe then
      if request.sent >= RETRIES_MAX then
        finish(id, failure('the daemon ends each time it is asked', 'see :checkhealth indexd'))
      else
        request.sent, request.again, request.on = request.sent + 1, false, pipe
        pipe:write(request.line)
      end
    end
  end
end

---@param path string
---@param otherwise fun(err: string)
local function try(path, otherwise)
  local new = assert(vim.uv.new_pipe(false))
  new:connect(path, function(err)
    if err then
      new:close()
      return otherwise(err)
    end
    pipe, is_connecting, received, daemon_starts = new, false, {}, 0
    new:read_start(function(read_err, bytes)
      if pipe ~= new then return end
      if read_err or not bytes then return lost() end
      on_bytes(bytes)
    end)
    send_all()
  end)
end

local function give_up(err)
  is_connecting = false
  finish_all(err)
end

---@param args string[]
---@param done fun(out: vim.SystemCompleted)
local function run(args, done)
  -- Not from within a callback of the loop: starting a program reads the environment.
  vim.schedule(function()
    local ok = pcall(vim.system, vim.list_extend({ config.ctl }, args), { text = true }, done)
    if not ok then give_up(failure(config.ctl .. ' is not there', 'install indexd, or name ctl in setup()')) end
  end)
end

---Has ctl start the daemon, asks it for the socket, and connects there.
local function start_daemon()
  daemon_starts = daemon_starts + 1
  if daemon_starts > 3 then
    daemon_starts = 0
    return give_up(failure('the daemon cannot be reached', 'see ctl doctor'))
  end
  run({ '--quiet', 'daemon', 'start' }, function(started)
    if started.code ~= 0 then return give_up(failure(vim.trim(started.stderr or ''), 'see ctl doctor')) end
    run({ 'status', '--json' }, function(out)
      local ok, status = pcall(vim.json.decode, out.stdout or '')
      if not ok then return give_up(failure(vim.trim(out.stderr or ''), 'see ctl doctor')) end
      try(config.socket or status.daemon.socket, start_daemon)
    end)
  end)
end

connect = function()
  if pipe then return send_all() end
  if is_connecting then return end
  is_connecting = true
  local path = known_socket()
  if path then
    try(path, start_daemon)
  else
    start_daemon()
  end
end

---Sends a request; `done` is called in the main loop, once.
---@param method string
---@param params table
---@param done indexd.Done
---@param progress (fun(p: table))?
---@return integer id
function M.request(method, params, done, progress)
  last_id = last_id + 1
  local id = last_id
  local object = next(params) == nil and vim.empty_dict() or params
  local line = vim.json.encode({ jsonrpc = '2.0', id = id, method = method, params = object }) .. '\n'
  local timer = assert(vim.uv.new_timer())
  local is_stale = params.wait ~= nil and params.wait.mode == 'stale'
  pending[id] = { line = line, done = done, progress = progress, sent = 0, timer = timer, is_stale = is_stale }
  timer:start(config.timeout_ms, 0, function()
    M.cancel(id, failure('no answer in time', nil, 'POC_E_CANCELLED'))
  end)
  connect()
  return id
end

---Gives a request up; all of them without an id.
---@param id integer?
---@param err indexd.Failure?
function M.cancel(id, err)
  for _, one in ipairs(id and { id } or vim.tbl_keys(pending)) do
    if pending[one] and pipe then
      local note = { jsonrpc = '2.0', method = '$/cancelRequest', params = { id = one } }
      pipe:write(vim.json.encode(note) .. '\n')
    end
    finish(one, err or failure('cancelled', nil, 'POC_E_CANCELLED'))
  end
end

---Whether a request is under way.
---@return boolean
function M.is_busy() return next(pending) ~= nil end

---Closes the connection; what is asked next opens another.
function M.close()
  M.cancel()
  disconnect()
end

---Asks and waits, for scripts and tests.
---@param method string
---@param params table
---@param timeout_ms integer?
---@return table? result
---@return indexd.Failure? failure
function M.ask(method, params, timeout_ms)
  local answered, err, result = false, nil, nil
  local id = M.request(method, params, function(e, r) answered, err, result = true, e, r end)
  if not vim.wait(timeout_ms or config.timeout_ms, function() return answered end, 5) then
    M.cancel(id)
    return nil, failure('no answer in time', nil, 'POC_E_CANCELLED')
  end
  return result, err
end

return M
