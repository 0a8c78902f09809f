package a;

import java.util.List;

public class A<T extends Number> {
    private static int size = total(1, 2);

    static int total(int a, int b) {
        return a + b;
    }

    @Override
    public int add(List<Integer> xs) throws Exception {
        int n = total(xs.get(0), 1);
        for (int x : xs) {
            if (x > total(n, 2) && total(x, 3) < 4) {
                n += total(n, x);
                continue;
            }
            switch (total(5, 6)) {
                case 7:
                    throw new Exception("" + total(8, 9));
                default:
                    xs.forEach(y -> System.out.println(total(y, 10)));
            }
        }
        try {
            int[] all = { total(11, 12), total(13, 14) };
            return all[total(0, 0)];
        } finally {
            A.total(15, 16);
        }
    }
}
