import { createLinesBuilder, type Lines } from './lines.ts'

const stream = { namespace: 'ns', pod: 'pod', container: 'c', host: '', dockerId: '' }

/** Lines of one stream with these texts, a nanosecond apart. */
export function linesOf(texts: readonly string[]): Lines {
  const lines = createLinesBuilder(20_000)
  for (const [i, text] of texts.entries()) {
    const source = Buffer.from(text)
    lines.add({ time: i, sequence: i + 1, stream, source, start: 0, end: source.length })
  }
  return lines.finish()
}
