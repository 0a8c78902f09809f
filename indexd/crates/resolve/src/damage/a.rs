use std::fmt;

struct T<'a> {
    n: &'a str,
}

fn total(a: u32, b: u32) -> u32 {
    a + b
}

const SIZE: u32 = total(1, 2);

impl<'a> T<'a> {
    fn add(&self, xs: &[u32]) -> Result<u32, fmt::Error> {
        let mut n = total(xs[0], 1);
        for x in xs.iter().map(|x| total(*x, 2)) {
            if x > total(n, 3) && total(x, 4) < 5 {
                n += total(n, 6);
                continue;
            }
            match total(1, 2) {
                3 if total(4, 5) > 6 => return Ok(total(7, 8)),
                y @ 9 => n = crate::total(y, 10),
                _ => {}
            }
        }
        println!("{} {:?}", total(n, 11), vec![total(12, 13)]);
        let Some(m) = Some(total(n, 14)) else { return Ok(total(15, 16)) };
        Ok(total::<>(m, self.n.len() as u32))
    }
}

mod inner {
    pub fn f() -> u32 {
        super::total(1, 2)
    }
}
