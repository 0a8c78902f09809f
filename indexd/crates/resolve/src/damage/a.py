import json

def total(a, b=1):
    return a + b

class C:
    size = total(1)

    def add(self, b: int) -> int:
        self.n = total(self.n, b)
        return [total(x, y=total(2)) for x in b if total(x)]

@total
def loop(xs, *rest, **more):
    while total(xs):
        try:
            yield total(1) if total(2) else {total(3): total(4)}
        except (A, B) as e:
            raise total(e) from total(5)
    with total(6) as f, open(f) as g:
        return lambda x: total(x, *rest, k=total(7))

f = total
