import { x } from './x';

export function total(a: number, b = 1): number {
  return a + b;
}

export class C extends x.Base {
  size = total(1);
  constructor(private n: number) {
    super(total(2));
  }
  static make(n: number): C {
    return new C(total(n, 3));
  }
  async add(xs: Array<number>): Promise<number> {
    for (const y of xs.map((z) => total(z, 4))) {
      if (y > total(5) && total(y) < 6) {
        this.n += total(this.n, y);
        continue;
      }
      switch (total(7)) {
        case total(8):
          throw new Error(`${total(9)} of ${y}`);
        default:
          await Promise.resolve(total(10));
      }
    }
    const { a, b = total(11) } = { a: total(12) };
    return a ? total(a!, b) : (total(13) as number);
  }
}

type F = ReturnType<typeof total>;
const f = function () { return [total(14), ...[total(15)]]; };
export default f;
