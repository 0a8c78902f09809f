-- The command alone: nothing else is loaded until it is used.
if vim.g.loaded_indexd then return end
vim.g.loaded_indexd = true

vim.api.nvim_create_user_command('Indexd', function(opts) require('indexd').command(opts) end, {
  nargs = '*',
  range = true,
  desc = 'Ask indexd: pack, search, grep, callers, callees, refs, impact, why, status, cancel',
  complete = function(lead, line) return require('indexd').complete(lead, line) end,
})

for _, name in ipairs({ 'callers', 'callees', 'refs', 'impact' }) do
  vim.keymap.set('n', ('<Plug>(indexd-%s)'):format(name), function() require('indexd').graph(name) end)
end
vim.keymap.set('n', '<Plug>(indexd-pack)', function() require('indexd').pack() end)
