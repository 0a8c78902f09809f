import React from 'react';

function total(a: number): number {
  return a + 1;
}

export function View(props: { n: number }) {
  const n = total(props.n);
  if (total(n) > 2) {
    return <p title={String(total(3))}>{total(4)}</p>;
  }
  return (
    <List size={total(5)}>
      {[1, 2].map((x) => <Item key={x} n={total(x)} />)}
      {n && total(6)}
    </List>
  );
}
