-- A pack as a buffer that folds: the budget as a bar, sections, items with their reasons, and the code.

local pick = require('indexd.pick')
local M = {}

local BAR_WIDTH = 24
-- Runs of lines in one request for their colours.
local HIGHLIGHT_PLACES_MAX = 2000
local CLASSES = {
  comment = 'Comment', string = 'String', number = 'Number', keyword = 'Keyword', type = 'Type', ['function'] = 'Function',
}
local namespace = vim.api.nvim_create_namespace('indexd.pack')

---@class indexd.Shown
---@field root string
---@field rendered string
---@field places table<integer, {path: string, line: integer}>
---@field again fun()

---@type table<integer, indexd.Shown>
local shown = {}

---@param used integer
---@param budget integer
---@return string
function M.bar(used, budget)
  local full = budget > 0 and math.floor(BAR_WIDTH * math.min(used, budget) / budget + 0.5) or 0
  return '[' .. ('#'):rep(full) .. ('-'):rep(BAR_WIDTH - full) .. ']'
end

---@param envelope table
---@return string
function M.freshness(envelope)
  if envelope.fresh then
    local n = envelope.overlays and #envelope.overlays.applied or 0
    return n > 0 and ('fresh, with %d unsaved'):format(n) or 'fresh'
  end
  if envelope.pending > 0 then return ('NOT FRESH: %d changed paths are missing'):format(envelope.pending) end
  return 'NOT FRESH: the last saves may be missing'
end

---@param item table
---@return string
local function reason(item)
  local sentence = item.why.rule
  local first = item.why.evidence and item.why.evidence[1]
  if first and (first.line or 0) > 0 then
    local what = first.via and first.via ~= '' and first.via or first.kind
    sentence = ('%s: %s at %s:%d'):format(sentence, what, first.fileRelPath, first.line)
  end
  return sentence
end

---@param result table Answer to `pack`.
---@return string[] lines
---@return table<integer, {path: string, line: integer}> places By line of the buffer.
function M.lines(result)
  local pack, lines, places = result.pack, {}, {}
  local function add(text, path, line)
    lines[#lines + 1] = text:gsub('\n', ' ')
    if path then places[#lines] = { path = path, line = line } end
  end
  local stats = pack.stats
  add('# ' .. (pack.request.query or ''))
  add(('%s %d of %d tokens, %d of %d candidates, %s'):format(
    M.bar(stats.tokenCount, stats.tokenBudget),
    stats.tokenCount,
    stats.tokenBudget,
    stats.included,
    stats.found,
    M.freshness(result.envelope)
  ))
  add(pack.packId)
  for _, warning in ipairs(pack.warnings or {}) do
    add('warning: ' .. warning)
  end
  for _, section in ipairs(pack.sections) do
    if #section.items > 0 then
      local tokens = 0
      for _, item in ipairs(section.items) do
        tokens = tokens + (item.tokens or 0)
      end
      add('')
      local dropped = (section.dropped or 0) > 0 and (', %d without room'):format(section.dropped) or ''
      add(('## %s  %s %d tokens%s'):format(section.name, M.bar(tokens, stats.tokenBudget), tokens, dropped))
      for _, item in ipairs(section.items) do
        local path = item.fileRelPath
        add(('### %s:%d-%d  %s'):format(path, item.lines.start, item.lines['end'], item.title or ''), path, item.lines.start)
        add(('    %s, %d tokens'):format(reason(item), item.tokens or 0), path, item.lines.start)
        local text = vim.split((item.excerpt and item.excerpt.text or ''):gsub('\n$', ''), '\n', { plain = true })
        local at = 0
        for _, part in ipairs(item.excerpt and item.excerpt.parts or {}) do
          if at > 0 then add('       ~') end
          for number = part.lines.start, part.lines['end'] do
            at = at + 1
            if text[at] == nil then break end
            add(('%6d| %s'):format(number, (text[at]:gsub('\r$', ''))), path, number)
          end
        end
      end
    end
  end
  if #(pack.suggested_next_queries or {}) > 0 then
    add('')
    add('## try next')
    for _, query in ipairs(pack.suggested_next_queries) do
      add('    :Indexd pack ' .. query)
    end
  end
  return lines, places
end

---The lines of code of a pack, as a request for their colours names them.
---@param pack table
---@return table[]
function M.code_places(pack)
  local places = {}
  for _, section in ipairs(pack.sections) do
    for _, item in ipairs(section.items) do
      for _, part in ipairs(item.form ~= 'diff' and item.excerpt and item.excerpt.parts or {}) do
        if #places < HIGHLIGHT_PLACES_MAX then
          places[#places + 1] = { fileRelPath = item.fileRelPath, lines = { start = part.lines.start, ['end'] = part.lines['end'] } }
        end
      end
    end
  end
  return places
end

---@param buffer integer
---@param row integer From 0.
---@param from integer
---@param to integer
---@param group string
local function paint(buffer, row, from, to, group)
  vim.api.nvim_buf_set_extmark(buffer, namespace, row, from, { end_col = to, hl_group = group })
end

---Colours what the plugin wrote: headings, reasons, and the numbers in front of code.
---@param buffer integer
---@param lines string[]
local function colour_frame(buffer, lines)
  vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  for i, line in ipairs(lines) do
    local number = line:match('^ *%d+| ')
    local place = line:match('^### %S+')
    if number then
      paint(buffer, i - 1, 0, #number - 1, 'LineNr')
    elseif place then
      paint(buffer, i - 1, 4, #place, 'Directory')
      paint(buffer, i - 1, #place, #line, 'Function')
    elseif line:match('^##? ') then
      paint(buffer, i - 1, 0, #line, 'Title')
    elseif line:match('^ +%S') or i == 3 then
      paint(buffer, i - 1, 0, #line, 'Comment')
    end
  end
end

---Colours the code of a pack.
---@param buffer integer
---@param lines table[] As `highlight` gives them.
function M.colour(buffer, lines)
  local view = shown[buffer]
  if not view then return end
  local known = {}
  for _, line in ipairs(lines) do
    known[line.fileRelPath .. ':' .. line.line] = line
  end
  for row, place in pairs(view.places) do
    local line = known[place.path .. ':' .. place.line]
    local text = line and vim.api.nvim_buf_get_lines(buffer, row - 1, row, false)[1] or ''
    local gutter = text:match('^ *%d+| ')
    if gutter and text:sub(#gutter + 1) == line.text then
      for _, piece in ipairs(line.pieces) do
        paint(buffer, row - 1, #gutter + piece.start, #gutter + piece['end'], CLASSES[piece.class] or 'Normal')
      end
    end
  end
end

---The level of a line for folding.
---@param line integer
---@return string
function M.fold(line)
  local text = vim.fn.getline(line)
  if text:sub(1, 4) == '### ' then return '>2' end
  if text:sub(1, 3) == '## ' then return '>1' end
  return line < 4 and '0' or '='
end

---Goes to the window that was used before, or to a new one beside the pack: the pack stays in its own.
local function leave()
  local own = vim.api.nvim_get_current_win()
  local before = vim.fn.win_getid(vim.fn.winnr('#'))
  if before ~= 0 and before ~= own and not shown[vim.api.nvim_win_get_buf(before)] then
    return vim.api.nvim_set_current_win(before)
  end
  vim.cmd('rightbelow vsplit')
end

---Shows the place of the current line beside the pack.
function M.jump()
  local buffer = vim.api.nvim_get_current_buf()
  local view = shown[buffer]
  local place = view and view.places[vim.api.nvim_win_get_cursor(0)[1]]
  if not place then return end
  leave()
  pick.jump({ path = view.root .. '/' .. place.path, line = place.line, column = 1, label = '' })
end

---Puts the text that a model would get into a register.
---@param register string?
function M.yank(register)
  local view = shown[vim.api.nvim_get_current_buf()]
  if not view then return end
  register = register or vim.v.register
  vim.fn.setreg(register, view.rendered, 'l')
  vim.notify(('indexd: %d lines in register %s'):format(select(2, view.rendered:gsub('\n', '\n')), register))
end

function M.again()
  local view = shown[vim.api.nvim_get_current_buf()]
  if view then view.again() end
end

local function map(buffer)
  local keys = { ['<CR>'] = M.jump, gy = M.yank, gr = M.again, q = function() vim.cmd.bdelete() end }
  for key, action in pairs(keys) do
    vim.keymap.set('n', key, function() action() end, { buffer = buffer, nowait = true })
  end
end

---Shows a pack; a pack of the same query takes the place of the one before.
---@param result table
---@param again fun()
---@return integer buffer
function M.show(result, again)
  local root = result.envelope.root
  local name = 'indexd://' .. root .. '/' .. (result.pack.request.query or ''):sub(1, 60):gsub('[%c%[%]{}*?]', ' ')
  local buffer = vim.fn.bufnr('^' .. vim.fn.escape(name, '\\^$.*~[]') .. '$')
  if buffer < 0 then
    buffer = vim.api.nvim_create_buf(true, true)
    vim.api.nvim_buf_set_name(buffer, name)
    vim.api.nvim_create_autocmd('BufWipeout', {
      buffer = buffer,
      callback = function() shown[buffer] = nil end,
    })
  end
  local lines, places = M.lines(result)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].modified = false
  vim.bo[buffer].filetype = 'indexd'
  vim.b[buffer].indexd_cwd = root
  colour_frame(buffer, lines)
  shown[buffer] = { root = root, rendered = result.rendered or '', places = places, again = again }
  map(buffer)
  local window = vim.fn.bufwinid(buffer)
  if window < 0 then
    vim.cmd('keepalt sbuffer ' .. buffer)
    window = vim.api.nvim_get_current_win()
  else
    vim.api.nvim_set_current_win(window)
  end
  vim.wo[window][0].foldmethod = 'expr'
  vim.wo[window][0].foldexpr = "v:lua.require'indexd.view'.fold(v:lnum)"
  vim.wo[window][0].foldlevel = 1
  vim.wo[window][0].wrap = false
  return buffer
end

return M
