/**
 * Prints a figure of ours, theirs and the ratio, and whether it is what is wanted.
 *
 * @param target a ratio of ours to theirs, at most or, with `least`, at least
 */
export function report(
  name: string,
  own: number,
  theirs: number,
  { target, least = false }: { target: number; least?: boolean },
): void {
  const ratio = own / theirs
  const met = least ? ratio >= target : ratio <= target
  const column = (value: number): string =>
    (value >= 1000 ? String(Math.round(value)) : value.toFixed(1)).padStart(9)
  const verdict = met ? '' : `  MISSED (${least ? '>=' : '<='} ${Number(target.toFixed(2))})`
  console.log(`${name.padEnd(42)}${column(own)}${column(theirs)}${ratio.toFixed(2).padStart(8)}${verdict}`)
}
