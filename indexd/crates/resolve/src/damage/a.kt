package a

import kotlin.math.max

fun total(a: Int, b: Int = 1): Int = a + b

val size = total(1, 2)

class C(private val n: Int) {
    val m: Int by lazy { total(n, 3) }

    fun add(xs: List<Int>): Int {
        var n = total(xs[0])
        for (x in xs.map { total(it, 4) }) {
            if (x > total(n, 5) && total(x) < 6) {
                n += total(n, x)
                continue
            }
            when (total(7)) {
                8 -> return total(9)
                else -> println("${total(10)} of $x")
            }
        }
        return if (n > 1) total(n, 11) else max(total(12), 13)
    }
}
