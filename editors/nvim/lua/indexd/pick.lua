-- Choosing one of several places, with the picker that is there.

local config = require('indexd.config')
local M = {}

---@class indexd.Place
---@field path string Absolute.
---@field line integer From 1.
---@field column integer From 1, in bytes.
---@field label string What is shown.
---@field text string? The same without the place.

---Goes to a place, so that CTRL-O leads back.
---@param place indexd.Place
function M.jump(place)
  vim.cmd("normal! m'")
  -- Not with :edit, which would ask to write the buffer that is left.
  local buffer = vim.fn.bufadd(place.path)
  vim.bo[buffer].buflisted = true
  vim.api.nvim_win_set_buf(0, buffer)
  local last = vim.api.nvim_buf_line_count(0)
  local line = math.min(math.max(place.line, 1), last)
  local length = #(vim.api.nvim_buf_get_lines(0, line - 1, line, false)[1] or '')
  vim.api.nvim_win_set_cursor(0, { line, math.min(math.max(place.column - 1, 0), length) })
  vim.cmd('normal! zv')
end

local adapters = {}

function adapters.telescope(places, prompt)
  local pickers, finders = require('telescope.pickers'), require('telescope.finders')
  local values = require('telescope.config').values
  local entry_maker = function(place)
    return {
      value = place,
      display = place.label,
      ordinal = place.label,
      filename = place.path,
      lnum = place.line,
      col = place.column,
    }
  end
  pickers
    .new({}, {
      prompt_title = prompt,
      finder = finders.new_table({ results = places, entry_maker = entry_maker }),
      previewer = values.grep_previewer({}),
      sorter = values.generic_sorter({}),
    })
    :find()
end

adapters['fzf-lua'] = function(places, prompt)
  local lines, by_line = {}, {}
  for i, place in ipairs(places) do
    lines[i] = ('%s:%d:%d: %s'):format(place.path, place.line, place.column, place.label)
    by_line[lines[i]] = place
  end
  local accept = function(chosen)
    local place = chosen and by_line[chosen[1]]
    if place then M.jump(place) end
  end
  require('fzf-lua').fzf_exec(lines, { prompt = prompt .. '> ', previewer = 'builtin', actions = { default = accept } })
end

function adapters.snacks(places, prompt)
  local items = vim.tbl_map(function(place)
    return { text = place.label, file = place.path, pos = { place.line, place.column - 1 }, place = place }
  end, places)
  require('snacks').picker({
    title = prompt,
    items = items,
    format = 'file',
    confirm = function(picker, item)
      picker:close()
      if item then M.jump(item.place) end
    end,
  })
end

function adapters.select(places, prompt)
  vim.ui.select(places, {
    prompt = prompt,
    kind = 'indexd',
    format_item = function(place) return place.label end,
  }, function(place)
    if place then M.jump(place) end
  end)
end

---The picker in use.
---@return string
function M.name()
  if config.picker ~= 'auto' then return config.picker end
  for _, one in ipairs({ 'telescope', 'fzf-lua', 'snacks' }) do
    if pcall(require, one == 'telescope' and 'telescope.pickers' or one) then return one end
  end
  return 'select'
end

---Lets the user choose a place and goes there.
---@param places indexd.Place[]
---@param prompt string
function M.pick(places, prompt)
  local name = M.name()
  local ok, err = pcall(adapters[name] or adapters.select, places, prompt)
  if not ok then
    vim.notify(('indexd: %s failed: %s'):format(name, err), vim.log.levels.WARN)
    adapters.select(places, prompt)
  end
end

return M
