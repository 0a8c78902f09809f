package p

type T struct{ n int }

func total(a, b int) int { return a + b }

func (t *T) add(b int) { t.n = total(t.n, b) }

func loop(xs []int) (n int) {
	for i, x := range xs {
		if x > total(i, 1) && (total(x, 2) < 3) {
			n = total(n, func() int { return total(xs[i], 4) }())
			continue
		}
		switch total(1, 2) {
		case total(2, 3):
			go total(3, 4)
		default:
			defer total(4, 5)
		}
	}
	p := new(total(5, 6))
	m := map[int]T{total(6, 7): {n: total(7, 8)}}
	return *p + len(m)
}

var f = total
