-- What can be set with require('indexd').setup{}. Nothing has to be.

---@class indexd.Config
---@field ctl string The program that starts the daemon.
---@field socket string? The daemon's socket; found by default.
---@field budget integer Tokens of a pack.
---@field picker 'auto'|'select'|'telescope'|'fzf-lua'|'snacks' Where places are chosen.
---@field overlays boolean Whether unsaved buffers count as if they were saved.
---@field timeout_ms integer Milliseconds after which a request is given up; a first index takes its time.
local config = {
  ctl = 'ctl',
  socket = nil,
  budget = 4000,
  picker = 'auto',
  overlays = true,
  timeout_ms = 3600000,
}

return config
