-- :checkhealth indexd

local M = {}

function M.check()
  local client, config = require('indexd.client'), require('indexd.config')
  vim.health.start('indexd')
  if vim.fn.has('nvim-0.10') == 0 then return vim.health.error('Neovim 0.10 or newer is needed') end
  local path = vim.fn.exepath(config.ctl)
  if path == '' then
    return vim.health.error(config.ctl .. ' is not in PATH', { "install indexd, or require('indexd').setup{ctl = '/path/to/ctl'}" })
  end
  vim.health.ok('ctl: ' .. path)
  local result, err = client.ask('status', {}, 15000)
  if err or not result then
    return vim.health.error('the daemon does not answer: ' .. (err and err.message or ''), { err and err.hint or 'ctl doctor' })
  end
  vim.health.ok(('daemon %s answers on %s'):format(result.daemon.version, result.daemon.socket))
  for _, workspace in ipairs(result.workspaces) do
    vim.health.info(('%s: %d files'):format(workspace.root, workspace.nFiles or 0))
  end
  vim.health.info('picker: ' .. require('indexd.pick').name())
  vim.health.info('unsaved buffers ' .. (config.overlays and 'count as saved' or 'do not count'))
  local doctor = vim.system({ config.ctl, 'doctor', '--json' }, { text = true }):wait(15000)
  local ok, report = pcall(vim.json.decode, doctor.stdout or '')
  for _, check in ipairs(ok and report.checks or {}) do
    if check.verdict == 'fail' then
      vim.health.error(('%s: %s'):format(check.name, check.reason), check.fix and { check.fix } or nil)
    elseif check.verdict == 'warn' then
      vim.health.warn(('%s: %s'):format(check.name, check.reason), check.fix and { check.fix } or nil)
    end
  end
end

return M
