require_relative 'base'

def total(a, b = 1)
  a + b
end

class C < Base
  SIZE = total(1)

  def add(xs)
    @n = total(xs.first, 2)
    xs.each do |x|
      if x > total(@n, 3) && total(x) < 4
        @n += total(@n, x)
        next
      end
      case total(5)
      when 6 then return total(7)
      else puts "#{total(8)} of #{x}"
      end
    end
    begin
      xs.map { |x| total(x, 9) }
    rescue ArgumentError => e
      raise e unless total(10)
    end
    { a: total(11), 'b' => [total(12)] }
  end
end
