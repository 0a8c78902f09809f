-- What the editor holds: the folder that a request is about, unsaved texts, and the name under the cursor.

local config = require('indexd.config')
local M = {}

-- Limits of the protocol.
local OVERLAYS_MAX = 32
local OVERLAY_BYTES_MAX = 4 * 1024 * 1024

---The folder of the current file; the working directory without one.
---@return string
function M.cwd()
  local name = vim.api.nvim_buf_get_name(0)
  if vim.bo.buftype == '' and name ~= '' then
    local dir = vim.fs.dirname(vim.fn.fnamemodify(name, ':p'))
    if vim.fn.isdirectory(dir) == 1 then return vim.uv.fs_realpath(dir) or dir end
  end
  local asked = vim.b.indexd_cwd
  return asked or assert(vim.uv.cwd())
end

---The root of the repository around a folder, as far as files tell.
---@param cwd string
---@return string
function M.root(cwd) return vim.fs.root(cwd, { '.git', 'go.mod', 'pyproject.toml', 'setup.py', 'package.json' }) or cwd end

---What a buffer would write.
---@param buffer integer
---@return string
function M.text_of(buffer)
  local options = vim.bo[buffer]
  local ends = ({ unix = '\n', dos = '\r\n', mac = '\r' })[options.fileformat]
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), ends)
  if text ~= '' and (options.endofline or (options.fixendofline and not options.binary)) then text = text .. ends end
  return (options.bomb and '\239\187\191' or '') .. text
end

---The unsaved buffers beneath the root of `cwd`; those above the limits are left out and counted.
---@param cwd string
---@return {path: string, text: string}[] overlays
---@return integer n_left_out
function M.overlays(cwd)
  if not config.overlays then return {}, 0 end
  local root = vim.uv.fs_realpath(M.root(cwd)) or M.root(cwd)
  local overlays, bytes, left_out = {}, 0, 0
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local options = vim.bo[buffer]
    local name = vim.api.nvim_buf_get_name(buffer)
    if options.modified and options.buftype == '' and name ~= '' and vim.api.nvim_buf_is_loaded(buffer) then
      local dir = vim.uv.fs_realpath(vim.fs.dirname(name)) or vim.fs.dirname(name)
      local path = dir .. '/' .. vim.fs.basename(name)
      if vim.startswith(path, root .. '/') then
        local text = M.text_of(buffer)
        if #overlays < OVERLAYS_MAX and bytes + #text <= OVERLAY_BYTES_MAX then
          overlays[#overlays + 1] = { path = path, text = text }
          bytes = bytes + #text
        else
          left_out = left_out + 1
        end
      end
    end
  end
  return overlays, left_out
end

---The parameters that every request about a repository has.
---@param params table
---@return table
function M.params(params)
  local cwd = M.cwd()
  local overlays, left_out = M.overlays(cwd)
  if left_out > 0 then
    vim.notify(('indexd: %d unsaved buffers are above the limits and do not count'):format(left_out), vim.log.levels.WARN)
  end
  params.cwd = cwd
  params.progress = true
  if #overlays > 0 then params.overlays = overlays end
  return params
end

---The place of the cursor: path, line from 1, column from 1 in bytes, which is what the daemon counts in.
---@return {path: string, line: integer, column: integer, word: string}?
function M.cursor()
  local name = vim.api.nvim_buf_get_name(0)
  if vim.bo.buftype ~= '' or name == '' then return nil end
  local line, column = unpack(vim.api.nvim_win_get_cursor(0))
  return { path = vim.uv.fs_realpath(name) or name, line = line, column = column + 1, word = vim.fn.expand('<cword>') }
end

return M
