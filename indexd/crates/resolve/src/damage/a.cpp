#include "a.hpp"

namespace a {

template <typename T>
T total(T a, T b) {
  return a + b;
}

class C : public Base {
 public:
  explicit C(int n) : n_(total(n, 1)) {}
  int add(const std::vector<int>& xs) const override {
    auto n = total(xs[0], 2);
    for (const auto& x : xs) {
      if (x > total(n, 3) && total(x, 4) < 5) {
        n += total<int>(n, x);
        continue;
      }
      std::sort(xs.begin(), xs.end(), [&](int a, int b) { return total(a, b) < total(6, 7); });
    }
    try {
      return static_cast<int>(total(8, 9));
    } catch (const std::exception& e) {
      throw Error(total(10, 11));
    }
    return n ? total(12, 13) : ::a::total(14, 15);
  }

 private:
  int n_ = total(16, 17);
};

}  // namespace a
