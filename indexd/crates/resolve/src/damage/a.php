<?php

namespace A;

use B\Base;

function total(int $a, int $b = 1): int
{
    return $a + $b;
}

class C extends Base
{
    private $n;

    public function add(array $xs): int
    {
        $n = total($xs[0], 2);
        foreach ($xs as $i => $x) {
            if ($x > total($n, 3) && total($x) < 4) {
                $this->n = total($this->n, $x);
                continue;
            }
            switch (total(5)) {
                case 6:
                    throw new \Exception(total(7));
                default:
                    $f = fn($y) => total($y, 8);
            }
        }
        $all = ['a' => total(9), 'b' => [total(10)]];
        return $n ? total($n, 11) : \A\total(12);
    }
}

echo total(13);
