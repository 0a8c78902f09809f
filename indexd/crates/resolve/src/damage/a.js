const x = require('./x');

function total(a, b) {
  return a + b;
}

class C extends x.Base {
  get size() { return total(1, 2); }
  add(xs) {
    for (let i = total(0, 1); i < xs.length; i += total(1, 0)) {
      if (xs[i] > total(i, 2)) {
        this.n = total(this.n, xs[i]);
      } else {
        do { xs.push(total(3, 4)); } while (total(5, 6));
      }
    }
    try {
      return total(7, 8) || { a: total(9, 10) };
    } catch (e) {
      return typeof total(11, 12);
    }
  }
}

exports.f = (a) => total(a, 13);
module.exports = { total, C };
