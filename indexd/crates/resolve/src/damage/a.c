#include "a.h"

struct t { int n; };

static int total(int a, int b)
{
    return a + b;
}

int size[] = { 1, 2 };

#define TWICE(x) (2 * (x))

int add(struct t *t, const int *xs, int len)
{
    int n = total(xs[0], 1);
    for (int i = total(0, 1); i < len; i += total(1, 2)) {
        if (xs[i] > total(n, 3) && total(i, 4) < 5) {
            t->n = total(t->n, xs[i]);
            continue;
        }
        switch (total(5, 6)) {
        case 7:
            return TWICE(total(7, 8));
        default:
            n ? total(9, 10) : total(11, 12);
        }
    }
    do {
        n = (int)total(n, sizeof(struct t));
    } while (total(n, 13));
    return xs[total(14, 15)];
}
