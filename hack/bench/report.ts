/** The required ratio of the figure of Kapis to that of the peer. */
export type Target = { readonly atLeast: number } | { readonly atMost: number }

/** Prints the header of a table of figures; {@link report} prints its rows. */
export function printHead(peer: string): void {
  console.log(toRow(['', 'Kapis', peer, 'ratio', 'target']))
}

/**
 * Prints a figure of Kapis, that of the peer, their ratio, and whether it meets the target. With
 * several rounds, figures are medians. The ratio is the median of the ratios of adjacent rounds, so
 * that other load on the machine affects both.
 */
export function report(
  name: string,
  own: readonly number[],
  theirs: readonly number[],
  target?: Target,
): void {
  const ratio = median(own.map((figure, i) => figure / (theirs[i] ?? Number.NaN)))
  const verdict = target === undefined ? '' : judge(ratio, target)
  console.log(toRow([name, toFigure(median(own)), toFigure(median(theirs)), ratio.toFixed(2), verdict]))
}

/** Returns the text for whether a figure meets the target. */
export function judge(figure: number, target: Target, unit = ''): string {
  const [isMet, words] =
    'atLeast' in target
      ? [figure >= target.atLeast, `>= ${target.atLeast}`]
      : [figure <= target.atMost, `<= ${target.atMost}`]
  return `${isMet ? 'met' : 'MISSED'} (${words}${unit})`
}

/** Returns the median of several rounds; a single round on a busy machine is unreliable. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function toRow(cells: readonly string[]): string {
  return cells.map((cell, i) => (i === 0 ? cell.padEnd(46) : cell.padStart(i === 4 ? 20 : 14))).join('')
}

function toFigure(value: number): string {
  return value >= 1000 ? String(Math.round(value)) : value.toFixed(value < 10 ? 2 : 1)
}
