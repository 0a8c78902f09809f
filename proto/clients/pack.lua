-- nvim -l pack.lua QUERY: the pack's id and its places. `ctl` starts the daemon.
vim.system({ 'ctl', '--quiet', 'daemon', 'start' }):wait()
local status = vim.json.decode(vim.system({ 'ctl', 'status', '--json' }):wait().stdout)
local budgets = { maxTotalTokens = 4000, maxBytesPerItem = 16000, maxItems = 250, maxItemsPerSection = 80 }
local params = { cwd = vim.uv.cwd(), query = arg[1], includeExplain = false, defaultBudgets = budgets }
local pipe, buffer = assert(vim.uv.new_pipe()), ''
pipe:connect(status.daemon.socket, function(failed)
  assert(not failed, failed)
  pipe:write(vim.json.encode({ jsonrpc = '2.0', id = 1, method = 'pack', params = params }) .. '\n')
  pipe:read_start(function(_, bytes) buffer = buffer .. (bytes or '') end)
end)
assert(vim.wait(600000, function() return buffer:find('\n', 1, true) ~= nil end, 10), 'no answer')
local answer = vim.json.decode(buffer:match('^[^\n]*'))
if answer.error then error(answer.error.message .. ': ' .. answer.error.data.hint) end
print(answer.result.pack.packId)
for _, section in ipairs(answer.result.pack.sections) do
  for _, item in ipairs(section.items) do
    print(('%s:%d-%d'):format(item.fileRelPath, item.lines.start, item.lines['end']))
  end
end
