-- Context packs and the code graph of indexd. See :help indexd.

local buffers = require('indexd.buffers')
local client = require('indexd.client')
local config = require('indexd.config')
local pick = require('indexd.pick')
local view = require('indexd.view')

local M = {}

local RELATIONS = { callers = true, callees = true, refs = true, impact = true }
local SUBCOMMANDS = { 'pack', 'search', 'grep', 'callers', 'callees', 'refs', 'impact', 'why', 'status', 'cancel' }
-- Lines of a search for text.
local LINES_MAX = 2000
local PROGRESS_AFTER_MS = 300

---@param options table? See :help indexd-setup.
function M.setup(options)
  for key, value in pairs(options or {}) do
    if config[key] == nil and key ~= 'socket' then error(('indexd: there is no option %q'):format(key)) end
    config[key] = value
  end
end

local progress_text = nil ---@type string?
local on_key_id = vim.api.nvim_create_namespace('indexd')

---Escape gives up what is asked, and does what it does otherwise, too.
local function listen_for_escape()
  local escape = vim.keycode('<Esc>')
  vim.on_key(function(key, typed)
    if (typed == escape or key == escape) and client.is_busy() then vim.schedule(client.cancel) end
  end, on_key_id)
end

local function idle()
  if client.is_busy() then return end
  vim.on_key(nil, on_key_id)
  if progress_text then
    progress_text = nil
    vim.api.nvim_echo({ { '' } }, false, {})
  end
end

local function tell(err)
  local hint = err.hint and err.hint ~= '' and ('\n' .. err.hint) or ''
  local level = err.code == 'POC_E_CANCELLED' and vim.log.levels.INFO or vim.log.levels.ERROR
  vim.notify('indexd: ' .. err.message .. hint, level)
end

---What the reader of an answer must know of it.
local function warn_of(envelope)
  if not envelope.fresh then vim.notify('indexd: ' .. view.freshness(envelope), vim.log.levels.WARN) end
  for _, warning in ipairs(envelope.warnings or {}) do
    vim.notify('indexd: ' .. warning, vim.log.levels.WARN)
  end
  for _, left_out in ipairs(envelope.overlays and envelope.overlays.leftOut or {}) do
    vim.notify('indexd: an unsaved text does not count: ' .. left_out.reason, vim.log.levels.WARN)
  end
end

---Asks about the repository of the current buffer.
---@param method string
---@param params table
---@param done fun(result: table, params: table)
function M.ask(method, params, done)
  local begun = vim.uv.now()
  params = buffers.params(params)
  listen_for_escape()
  client.request(method, params, function(err, result)
    idle()
    if err then return tell(err) end
    warn_of(result.envelope)
    done(result, params)
  end, function(p)
    if vim.uv.now() - begun < PROGRESS_AFTER_MS then return end
    local share = p.total > 0 and (' %d%%'):format(math.floor(100 * p.done / p.total)) or ''
    progress_text = ('indexd: %s%s'):format(p.phase, share)
    vim.api.nvim_echo({ { progress_text .. ' (Esc gives up)' } }, false, {})
    vim.api.nvim_exec_autocmds('User', { pattern = 'IndexdProgress', modeline = false })
  end)
end

---Assembles a pack and shows it.
---@param query string? Asked for without.
---@param shown fun(buffer: integer)? Called with the buffer.
function M.pack(query, shown)
  if not query or query == '' then
    return vim.ui.input({ prompt = 'Pack for: ' }, function(text)
      if text and text ~= '' then M.pack(text, shown) end
    end)
  end
  local asked = {
    query = query,
    includeExplain = false,
    rendered = true,
    -- What `ctl pack` asks for.
    defaultBudgets = {
      maxTotalTokens = config.budget,
      maxBytesPerItem = 16000,
      maxItems = 250,
      maxItemsPerSection = 80,
    },
  }
  M.ask('pack', asked, function(result, params)
    local buffer = view.show(result, function() M.pack(query) end)
    local places = view.code_places(result.pack)
    -- They were current a moment ago. Without colours the pack is read as well.
    local coloured = { cwd = params.cwd, overlays = params.overlays, places = places, wait = { mode = 'stale' } }
    client.request('highlight', coloured, function(_, colours)
      if colours then view.colour(buffer, colours.lines) end
    end)
    if shown then shown(buffer) end
  end)
end

---The definition that the cursor is on or that the name under it means: its symbol id, else the name.
---@param done fun(symbol: string)
local function at_cursor(done)
  local place = buffers.cursor()
  if not place or place.word == '' then
    return vim.notify('indexd: there is no name under the cursor', vim.log.levels.WARN)
  end
  M.ask('symbol', { name = place.word, limit = 500 }, function(found)
    local root = found.envelope.root
    for _, symbol in ipairs(found.symbols) do
      if symbol.line == place.line and root .. '/' .. symbol.fileRelPath == place.path then
        return done(symbol.symbolId or place.word)
      end
    end
    local called = { symbol = place.path .. ':' .. place.line, limit = 2000, minConfidence = 0 }
    client.request('graph.callees', buffers.params(called), function(_, result)
      for _, edge in ipairs(result and result.edges or {}) do
        for _, evidence in ipairs(edge.evidence) do
          local ends = evidence.column + #place.word
          if evidence.line == place.line and evidence.column <= place.column and place.column <= ends then
            if edge.target.name == place.word then return done(edge.target.symbolId or place.word) end
          end
        end
      end
      done(place.word)
    end)
  end)
end

---@param result table
---@return indexd.Place[]
local function places_of(result)
  local places, root = {}, result.envelope.root
  local ahead = result.relation == 'callees'
  for _, edge in ipairs(result.edges) do
    local other = ahead and edge.target or edge.source
    for _, evidence in ipairs(edge.evidence) do
      local at = ahead and other or { fileRelPath = edge.source.fileRelPath, line = evidence.line }
      local name = other.qualifiedName ~= '' and other.qualifiedName or other.name
      local steps = edge.depth > 1 and (' (%d steps)'):format(edge.depth) or ''
      places[#places + 1] = {
        path = root .. '/' .. at.fileRelPath,
        line = at.line,
        column = ahead and 1 or evidence.column,
        label = ('%s:%d  %s  %s%s'):format(at.fileRelPath, at.line, name, edge.kind, steps),
        text = ('%s  %s%s'):format(name, edge.kind, steps),
      }
      if ahead then break end
    end
  end
  return places
end

---Puts places into the quickfix list and offers them. The list has columns of its own for where they are.
---@param places indexd.Place[]
---@param title string
local function offer(places, title)
  vim.fn.setqflist({}, ' ', {
    title = 'indexd: ' .. title,
    items = vim.tbl_map(function(place)
      return { filename = place.path, lnum = place.line, col = place.column, text = place.text }
    end, places),
  })
  pick.pick(places, title)
end

---Who calls it, what it calls, where it is used, what depends on it.
---@param relation 'callers'|'callees'|'refs'|'impact'
---@param symbol string? Of the cursor without.
function M.graph(relation, symbol)
  if not symbol or symbol == '' then return at_cursor(function(found) M.graph(relation, found) end) end
  M.ask('graph.' .. relation, { symbol = symbol }, function(result)
    local places = places_of(result)
    local root_name = result.roots[1] and result.roots[1].qualifiedName or symbol
    if #places == 0 then
      return vim.notify(('indexd: no %s of %s; %s'):format(relation, root_name, result.coverage.statement))
    end
    offer(places, ('%s of %s'):format(relation, root_name))
  end)
end

---Ranks the places of the repository by words.
---@param query string
function M.search(query)
  if query == '' then return vim.notify('indexd: search for what?', vim.log.levels.WARN) end
  M.ask('search', { query = query }, function(result)
    local places = vim.tbl_map(function(hit)
      local code = hit.text:match('  ' .. hit.matchLine .. ': (.*)$') or hit.title
      local name = hit.name ~= '' and hit.name .. '  ' or ''
      return {
        path = result.envelope.root .. '/' .. hit.fileRelPath,
        line = hit.matchLine,
        column = 1,
        label = ('%s:%d  %s%s'):format(hit.fileRelPath, hit.matchLine, name, code),
        text = name .. code,
      }
    end, result.hits)
    if #places == 0 then return vim.notify('indexd: nothing found') end
    offer(places, 'search ' .. query)
  end)
end

---Finds lines by a regular expression, with the definitions that they stand in.
---@param pattern string
function M.grep(pattern)
  if pattern == '' then return vim.notify('indexd: grep for what?', vim.log.levels.WARN) end
  M.ask('grep', { patterns = { pattern }, limit = LINES_MAX }, function(result)
    local places = vim.tbl_map(function(line)
      local within = line.within and line.within.name .. '  ' or ''
      local text = within .. vim.trim(line.text)
      return {
        path = result.envelope.root .. '/' .. line.fileRelPath,
        line = line.line,
        column = line.column,
        label = ('%s:%d  %s'):format(line.fileRelPath, line.line, text),
        text = text,
      }
    end, result.lines)
    if #places == 0 then return vim.notify('indexd: no line matches') end
    if result.nLines > #places then
      vim.notify(('indexd: the first %d of %d lines'):format(#places, result.nLines), vim.log.levels.WARN)
    end
    offer(places, 'grep ' .. pattern)
  end)
end

---Says whether a file is in the index, and what decides it.
---@param path string? The current file without.
function M.why(path)
  path = path and path ~= '' and vim.fn.fnamemodify(path, ':p') or vim.api.nvim_buf_get_name(0)
  if path == '' then return vim.notify('indexd: the buffer has no file', vim.log.levels.WARN) end
  M.ask('why', { path = path }, function(result) vim.notify(('%s: %s'):format(result.path, result.reason)) end)
end

---Says what the daemon and the repository are at.
function M.status()
  client.request('status', {}, function(err, result)
    if err then return tell(err) end
    local lines = { ('indexd %s, process %d'):format(result.daemon.version, result.daemon.pid) }
    for _, workspace in ipairs(result.workspaces) do
      lines[#lines + 1] = ('%s: %s, %d files'):format(workspace.root, vim.inspect(workspace.state):gsub('"', ''), workspace.nFiles or 0)
    end
    vim.notify(table.concat(lines, '\n'))
  end)
end

---For a statusline: nothing before the first answer.
---@return string
function M.statusline()
  if progress_text then return progress_text end
  if client.is_busy() then return 'indexd ...' end
  local envelope = client.last_envelope
  if not envelope then return '' end
  if envelope.fresh then return 'indexd ok' end
  return ('indexd behind:%d'):format(envelope.pending)
end

---@param opts table As nvim_create_user_command gives it.
function M.command(opts)
  local name, rest = opts.args:match('^(%S*)%s*(.*)$')
  if opts.range > 0 and rest == '' then
    rest = table.concat(vim.api.nvim_buf_get_lines(0, opts.line1 - 1, opts.line2, false), '\n')
  end
  if name == 'pack' then
    M.pack(rest)
  elseif RELATIONS[name] then
    M.graph(name, rest)
  elseif name == 'search' or name == 'grep' then
    M[name](rest)
  elseif name == 'why' then
    M.why(rest)
  elseif name == 'status' or name == '' then
    M.status()
  elseif name == 'cancel' then
    client.cancel()
  else
    vim.notify(('indexd: there is no :Indexd %s'):format(name), vim.log.levels.ERROR)
  end
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local words = vim.split(vim.trim(line), '%s+')
  if #words > 2 or (#words == 2 and lead == '') then
    return words[2] == 'why' and vim.fn.getcompletion(lead, 'file') or {}
  end
  return vim.tbl_filter(function(name) return vim.startswith(name, lead) end, SUBCOMMANDS)
end

return M
