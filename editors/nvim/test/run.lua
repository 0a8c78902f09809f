-- nvim --headless -u NONE -l test/run.lua: against a real daemon. `ctl` and `indexd` are in PATH, and
-- INDEXD_TEST_REPO is a repository of retry.go and client.go (tests/editors/repo makes it).

local plugin = vim.fs.dirname(vim.fs.dirname(vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p')))
vim.opt.runtimepath:prepend(plugin)
vim.cmd.runtime('plugin/indexd.lua')
local repo = assert(vim.env.INDEXD_TEST_REPO)
local notes, choices, prompts = {}, nil, {}
vim.notify = function(text, level) notes[#notes + 1] = { text = text, level = level } end
vim.ui.select = function(items, opts, choose)
  choices, prompts[#prompts + 1] = vim.tbl_map(opts.format_item, items), opts.prompt
  choose(items[1])
end
local client, config = require('indexd.client'), require('indexd.config')

local function equal(what, got, want)
  if not vim.deep_equal(got, want) then
    error(('%s: got %s, want %s'):format(what, vim.inspect(got), vim.inspect(want)), 2)
  end
end
local function holds(what, condition)
  if not condition then error(what .. '; notes: ' .. vim.inspect(notes), 2) end
end
local function soon(what, condition) holds(what, vim.wait(20000, condition, 10)) end
local function said(pattern)
  return vim.iter(notes):any(function(note) return note.text:find(pattern) ~= nil end)
end
local function ctl(...)
  local out = vim.system({ 'ctl', ... }, { text = true, cwd = repo }):wait()
  return out.stdout or '', out.code
end
local function open(path)
  vim.cmd.edit(repo .. '/' .. path)
  notes, choices = {}, nil
end

local QUERY = 'how long is the delay before the next attempt'
local tests = {}

tests[#tests + 1] = { 'the daemon is started and a pack is the one of ctl', function()
  open('client.go')
  vim.cmd.Indexd('pack ' .. QUERY)
  soon('a pack', function() return vim.bo.filetype == 'indexd' end)
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  local id = vim.json.decode((ctl('pack', QUERY, '--json'))).packId
  equal('the first lines', { lines[1], lines[3] }, { '# ' .. QUERY, id })
  holds('a bar: ' .. lines[2], lines[2]:match('^%[#*%-*%] %d+ of 4000 tokens, .* fresh$') and #lines[2]:match('^%[(.-)%]') == 24)
end }

tests[#tests + 1] = { 'the pack folds, leads to places and is yanked', function()
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  local line = vim.fn.search([[^### retry\.go:.*Delay]], 'w')
  holds('an item:\n' .. text, line > 0)
  equal('levels', { vim.fn.foldlevel(1), vim.fn.foldlevel(line - 1), vim.fn.foldlevel(line), vim.fn.foldlevel(line + 2) }, { 0, 1, 2, 2 })
  holds('items are folded', vim.fn.foldclosed(line + 1) == line)
  vim.cmd.normal('zo')
  vim.fn.setreg('"', '')
  vim.api.nvim_feedkeys('gy', 'x', false)
  local rendered = vim.trim((ctl('pack', QUERY, '--as', 'text')))
  equal('the text', vim.trim(vim.fn.getreg('"')), rendered)
  local code = vim.fn.search('| func Delay')
  holds('the code', code > 0)
  vim.api.nvim_feedkeys(vim.keycode('<CR>'), 'x', false)
  equal('the place', { vim.fs.basename(vim.api.nvim_buf_get_name(0)), vim.api.nvim_get_current_line() }, { 'retry.go', 'func Delay(attempt int) int {' })
  local packs = vim.tbl_filter(function(w) return vim.bo[vim.api.nvim_win_get_buf(w)].filetype == 'indexd' end, vim.api.nvim_list_wins())
  equal('the pack stays', #packs, 1)
  vim.api.nvim_set_current_win(packs[1])
  vim.cmd.only()
  vim.fn.search('| func Delay')
  vim.api.nvim_feedkeys(vim.keycode('<CR>'), 'x', false)
  equal('with no other window a new one', { #vim.api.nvim_list_wins(), vim.fs.basename(vim.api.nvim_buf_get_name(0)) }, { 2, 'retry.go' })
end }

tests[#tests + 1] = { 'the pack has colours', function()
  open('client.go')
  vim.cmd.Indexd('pack ' .. QUERY)
  local function groups(pattern)
    local row = vim.fn.search(pattern, 'w') - 1
    local namespace = vim.api.nvim_get_namespaces()['indexd.pack']
    local marks = row >= 0 and vim.api.nvim_buf_get_extmarks(0, namespace, { row, 0 }, { row, -1 }, { details = true }) or {}
    return vim.iter(marks):map(function(mark)
      return vim.fn.getline('.'):sub(mark[3] + 1, mark[4].end_col) .. ' ' .. mark[4].hl_group
    end):totable()
  end
  soon('code', function() return vim.bo.filetype == 'indexd' and #groups('| func Delay') > 1 end)
  local found = groups('| func Delay')
  holds('colours: ' .. vim.inspect(found), vim.list_contains(found, 'func Keyword') and vim.list_contains(found, 'Delay Function'))
  holds('a number', found[1]:find('LineNr$') ~= nil)
  holds('a heading', groups([[^### retry\.go:]])[1]:find('^retry.go:.* Directory$'))
end }

tests[#tests + 1] = { 'search and grep offer places', function()
  open('client.go')
  vim.cmd.Indexd('search delay of the next attempt')
  soon('hits', function() return choices ~= nil end)
  holds('a hit: ' .. choices[1], choices[1]:find('^retry.go:%d+  '))
  holds('no place in the text', not vim.fn.getqflist()[1].text:find('retry.go:'))
  open('client.go')
  vim.cmd.Indexd('grep ^func Del')
  soon('lines', function() return choices ~= nil end)
  equal('lines', choices, { 'retry.go:4  Delay  func Delay(attempt int) int {' })
  equal('the quickfix list', { vim.fn.getqflist()[1].lnum, vim.fn.getqflist()[1].text }, { 4, 'Delay  func Delay(attempt int) int {' })
  open('client.go')
  vim.cmd.Indexd('grep nothingHasThis')
  soon('told', function() return said('no line matches') end)
end }

tests[#tests + 1] = { 'callers by name and of what the cursor is on', function()
  open('retry.go')
  vim.cmd.Indexd('callers Delay')
  soon('choices', function() return choices ~= nil end)
  equal('callers', choices, { 'client.go:5  Get  call' })
  equal('the place', { vim.fs.basename(vim.api.nvim_buf_get_name(0)), vim.api.nvim_win_get_cursor(0) }, { 'client.go', { 5, 8 } })
  equal('the quickfix list', { vim.fn.getqflist()[1].lnum, vim.fn.getqflist()[1].text }, { 5, 'Get  call' })
  notes, choices = {}, nil
  -- The cursor is on the call of Delay now.
  vim.cmd.Indexd('callees')
  soon('choices', function() return choices ~= nil end)
  equal('callees of Delay', { prompts[#prompts], choices[1] }, { 'callees of Delay', 'retry.go:8  base  call' })
end }

tests[#tests + 1] = { 'unsaved buffers count, and nothing of them is stored', function()
  open('client.go')
  local before = ctl('export', 'dump')
  vim.api.nvim_buf_set_lines(0, -1, -1, false, { '', '// Ωmega: once more.', 'func Ωmega() int { return Delay(4) }' })
  vim.cmd.Indexd('callers Delay')
  soon('choices', function() return choices ~= nil end)
  equal('callers', choices, { 'client.go:5  Get  call', 'client.go:9  Ωmega  call' })
  equal('the column in bytes', vim.fn.getqflist()[2].col, 28)
  holds('stored', ctl('export', 'dump') == before)
  vim.cmd.Indexd('pack once more with Ωmega')
  soon('a pack', function() return vim.bo.filetype == 'indexd' end)
  holds('said', vim.fn.getline(2):find('fresh, with 1 unsaved', 1, true))
  soon('the statusline', function() return require('indexd').statusline() == 'indexd ok' end)
  vim.cmd.bdelete()
  vim.cmd.buffer(repo .. '/client.go')
  vim.cmd.edit({ bang = true })
  vim.cmd.Indexd('refs base')
  soon('an answer', function() return choices and #choices == 1 end)
end }

tests[#tests + 1] = { 'what a buffer would write', function()
  vim.cmd.enew({ bang = true })
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'a', 'b' })
  local text = function() return require('indexd.buffers').text_of(0) end
  equal('unix', text(), 'a\nb\n')
  vim.bo.fileformat, vim.bo.bomb = 'dos', true
  equal('dos with a mark', text(), '\239\187\191a\r\nb\r\n')
  vim.bo.fileformat, vim.bo.bomb, vim.bo.endofline, vim.bo.fixendofline = 'unix', false, false, false
  equal('no end', text(), 'a\nb')
  vim.bo.modified = false
end }

tests[#tests + 1] = { 'why, status, completion and wrong names', function()
  open('retry.go')
  vim.cmd.Indexd('why')
  soon('why', function() return said('^retry.go: in the index as go$') end)
  vim.cmd.Indexd('status')
  soon('status', function() return said('^indexd .*, process %d+') end)
  vim.cmd.Indexd('callers noSuchName')
  soon('an error', function() return said('noSuchName') end)
  equal('completion', vim.fn.getcompletion('Indexd ca', 'cmdline'), { 'callers', 'callees', 'cancel' })
  vim.cmd.Indexd('nonsense')
  holds('told', said('there is no :Indexd nonsense'))
end }

tests[#tests + 1] = { 'the daemon may end in between', function()
  open('retry.go')
  local first = client.ask('status', {}, 20000).daemon.pid
  ctl('daemon', 'stop')
  vim.cmd.Indexd('impact base')
  soon('an answer', function() return choices ~= nil end)
  local second = client.ask('status', {}, 20000).daemon.pid
  holds('another process', first ~= second)
end }

tests[#tests + 1] = { 'escape gives up', function()
  open('retry.go')
  local err
  client.request('index.wait', { cwd = repo, progress = true }, function(e) err = e or 'answered' end)
  client.cancel()
  soon('cancelled', function() return err ~= nil end)
  equal('the code', err.code, 'POC_E_CANCELLED')
  -- A daemon that stands still cannot answer before the key is read.
  local pid = client.ask('status', {}, 20000).daemon.pid
  vim.uv.kill(pid, 'sigstop')
  require('indexd').ask('search', { query = 'delay' }, function() notes[#notes + 1] = { text = 'answered' } end)
  vim.api.nvim_feedkeys(vim.keycode('<Esc>'), 'xt', false)
  local is_over = vim.wait(20000, function() return said('cancelled') end, 10)
  vim.uv.kill(pid, 'sigcont')
  holds('an end', is_over)
  holds('no answer', not said('answered'))
end }

tests[#tests + 1] = { 'health', function()
  vim.cmd.checkhealth('indexd')
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  holds('health:\n' .. text, text:find('daemon .* answers on') and not text:find('ERROR'))
end }

tests[#tests + 1] = { 'pickers', function()
  local got
  local places = { { path = repo .. '/retry.go', line = 4, column = 6, label = 'x' } }
  package.loaded['fzf-lua'] = { fzf_exec = function(lines, opts) opts.actions.default({ lines[1] }) end }
  equal('fzf-lua', require('indexd.pick').name(), 'fzf-lua')
  require('indexd.pick').pick(places, 'p')
  equal('its place', vim.api.nvim_win_get_cursor(0), { 4, 5 })
  package.loaded['fzf-lua'] = nil
  package.loaded.snacks = { picker = function(opts) got = opts.items[1] end }
  require('indexd.pick').pick(places, 'p')
  equal('snacks', { got.file, got.pos }, { repo .. '/retry.go', { 4, 5 } })
  package.loaded.snacks = { picker = function() error('too old') end }
  choices = nil
  require('indexd.pick').pick(places, 'p')
  equal('one that fails gives way', choices, { 'x' })
  holds('and is named', said('snacks failed: .*too old'))
  package.loaded.snacks = nil
  equal('none', require('indexd.pick').name(), 'select')
end }

tests[#tests + 1] = { 'telescope', function()
  local opened, shown
  local stubs = {
    ['telescope.pickers'] = { new = function(_, opts) return { find = function() opened = opts end } end },
    ['telescope.finders'] = { new_table = function(opts) return opts end },
    ['telescope.config'] = { values = {
      grep_previewer = function() return 'previewer' end,
      generic_sorter = function() return 'sorter' end,
    } },
  }
  for name, stub in pairs(stubs) do package.loaded[name] = stub end
  local places = { { path = repo .. '/retry.go', line = 4, column = 6, label = 'func Delay' } }
  equal('the name', require('indexd.pick').name(), 'telescope')
  require('indexd.pick').pick(places, 'callers of Delay')
  equal('the window', { opened.prompt_title, opened.previewer, opened.sorter }, { 'callers of Delay', 'previewer', 'sorter' })
  shown = opened.finder.entry_maker(opened.finder.results[1])
  equal('an entry', { shown.display, shown.ordinal, shown.filename, shown.lnum, shown.col },
    { 'func Delay', 'func Delay', repo .. '/retry.go', 4, 6 })
  for name in pairs(stubs) do package.loaded[name] = nil end
end }

tests[#tests + 1] = { 'progress is shown, what is not fresh says so, and what is busy is asked again', function()
  client.close()
  local path, server, n = vim.fn.tempname(), assert(vim.uv.new_pipe()), 0
  local envelope = { fresh = false, pending = 2, repoId = 'r', root = repo }
  assert(server:bind(path))
  server:listen(8, function()
    local peer = assert(vim.uv.new_pipe())
    server:accept(peer)
    peer:read_start(function(_, bytes)
      if not bytes then return end
      n = n + 1
      local id = vim.json.decode(bytes).id
      local send = function(message) peer:write(vim.json.encode(message) .. '\n') end
      if n == 1 then return send({ id = id, error = { message = 'no', data = { code = 'POC_E_BUSY', retryAfterMs = 5 } } }) end
      if n == 2 then return peer:close() end
      vim.schedule(function()
        vim.defer_fn(function() send({ method = '$/progress', params = { id = id, phase = 'parse', done = 1, total = 4 } }) end, 400)
        vim.defer_fn(function() send({ id = id, result = { path = 'a', reason = 'b', envelope = envelope } }) end, 500)
      end)
    end)
  end)
  config.socket = path
  open('retry.go')
  local shown
  vim.api.nvim_create_autocmd('User', {
    pattern = 'IndexdProgress',
    callback = function() shown = require('indexd').statusline() end,
  })
  vim.cmd.Indexd('why')
  soon('an answer', function() return said('^a: b$') end)
  equal('progress', shown, 'indexd: parse 25%')
  equal('asked', n, 3)
  holds('not fresh', said('NOT FRESH: 2 changed paths are missing'))
  equal('the statusline', require('indexd').statusline(), 'indexd behind:2')
  client.close()
  server:close()
end }

tests[#tests + 1] = { 'an unknown program is said', function()
  client.close()
  config.ctl, config.socket = 'no-such-ctl', repo .. '/none'
  local _, err = client.ask('status', {}, 20000)
  equal('the message', err.message, 'no-such-ctl is not there')
end }

local failed = 0
for _, test in ipairs(tests) do
  local ok, err = xpcall(test[2], debug.traceback)
  io.write(('%s - %s\n'):format(ok and 'ok' or 'not ok', test[1]))
  if not ok then
    failed = failed + 1
    io.write(err .. '\n')
  end
end
io.write(('nvim: %d of %d passed\n'):format(#tests - failed, #tests))
os.exit(failed == 0 and 0 or 1)
