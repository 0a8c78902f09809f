package a

import scala.collection.mutable

object A {
  def total(a: Int, b: Int): Int = a + b

  val size = total(1, 2)

  class C(n: Int) {
    def add(xs: Seq[Int]): Int = {
      var m = total(xs.head, 3)
      for (x <- xs if total(x, 4) > 5) {
        m = total(m, x)
      }
      xs.map(x => total(x, 6)).foldLeft(total(7, 8)) { (a, b) => total(a, b) }
      m match {
        case 9 => total(10, 11)
        case y if total(y, 12) > 13 => total(14, 15).abs
        case _ => throw new Exception(total(16, 17).toString)
      }
    }
  }
}
