local base = require "base"

local M = {}

local function total(a, b)
  return a + b
end

M.size = total(1, 2)

function M:add(xs)
  local n = total(xs[1], 3)
  for i, x in ipairs(xs) do
    if x > total(n, 4) and total(x, 5) < 6 then
      self.n = total(self.n, x)
    elseif not total(7, 8) then
      return function(y) return total(y, 9) end
    end
  end
  repeat
    n = total(n, 10)
  until total(n, 11) > 12
  return { a = total(13, 14), total(15, 16) }
end

return M
