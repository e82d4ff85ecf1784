/** A line, and the variants of the text that have it. */
type Line = { readonly text: string; readonly variants: Set<string> }

/** Lines that the same variants have. */
export type Block = { readonly lines: readonly string[]; readonly variants: ReadonlySet<string> }

/** One text that holds several, line by line; each variant is what its blocks say, in order. */
export function mergeTexts(texts: ReadonlyMap<string, string>): readonly Block[] {
  let merged: readonly Line[] = []
  for (const [variant, text] of texts) merged = mergeOne(merged, text.split('\n'), variant)
  const blocks: { lines: string[]; variants: ReadonlySet<string> }[] = []
  for (const { text, variants } of merged) {
    const last = blocks.at(-1)
    if (last !== undefined && isSame(last.variants, variants)) last.lines.push(text)
    else blocks.push({ lines: [text], variants })
  }
  return blocks
}

function mergeOne(merged: readonly Line[], lines: readonly string[], variant: string): readonly Line[] {
  const common = longestCommon(
    merged.map(({ text }) => text),
    lines,
  )
  const result: Line[] = []
  let [left, right] = [0, 0]
  for (const [i, j] of [...common, [merged.length, lines.length] as const]) {
    result.push(...merged.slice(left, i))
    for (const text of lines.slice(right, j)) result.push({ text, variants: new Set([variant]) })
    const shared = merged[i]
    if (shared !== undefined) result.push({ ...shared, variants: new Set([...shared.variants, variant]) })
    left = i + 1
    right = j + 1
  }
  return result
}

/** The longest common subsequence, as pairs of places. */
function longestCommon(a: readonly string[], b: readonly string[]): readonly (readonly [number, number])[] {
  const width = b.length + 1
  const lengths = new Uint32Array((a.length + 1) * width)
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const pairs: (readonly [number, number])[] = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) pairs.push([i++, j++])
    else if (at(i + 1, j) >= at(i, j + 1)) i++
    else j++
  }
  return pairs
}

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every(one => b.has(one))
}
