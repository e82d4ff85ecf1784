import { release } from '../own-memory.ts'
import { type Grouped, groupByStream, invert, sequenceRange, sortLines } from './line-order.ts'
import type { Lines } from './lines.ts'
import type { PackedWords } from './packed-words.ts'
import type { Segment } from './segment.ts'
import { documentsOfStreams, type UseStreams } from './stream-documents.ts'

/**
 * Lines as they came in, to be searched like a segment. Without their words, what is asked of the texts is answered by a look
 * through all of them, which for a few lines takes less than an index does.
 */
export function openLines(id: string, lines: Lines, words?: PackedWords): Segment {
  const { count, day, times, sequences, text, textStarts } = lines
  // More of them may come later, with lines that these are without.
  const streams = [...lines.streams]
  const order = sortLines(lines)
  let grouped: Grouped | undefined
  // Much of what is asked does not need it.
  const byStream = (): Grouped => {
    grouped ??= groupByStream(
      { ...lines, streams },
      order,
      streams.map((_, stream) => stream),
    )
    return grouped
  }
  let documentOfLine: Uint32Array | undefined
  const documentsOfLines = (): Uint32Array => {
    documentOfLine ??= invert(order)
    return documentOfLine
  }
  const timeOf = (document: number): number => times[order[document] ?? 0] ?? 0
  const sequenceOf = (document: number): number => sequences[order[document] ?? 0] ?? 0

  function lowerBound(time: number, sequence = 0): number {
    let [low, high] = [0, count]
    while (low < high) {
      const middle = (low + high) >>> 1
      const own = timeOf(middle)
      if (own < time || (own === time && sequenceOf(middle) < sequence)) low = middle + 1
      else high = middle
    }
    return low
  }

  const useStreams: UseStreams = work => work(byStream().column)

  return {
    id,
    footer: {
      day,
      count,
      streams,
      firstTime: timeOf(0),
      lastTime: timeOf(count - 1),
      textBytes: text.length,
      ...sequenceRange(sequences),
    },
    dictionary: words?.dictionaryOf(documentsOfLines),
    column: { bytes: text, starts: textStarts, documents: documentsOfLines },
    get streamStarts() {
      return byStream().streamStarts
    },
    timeOf,
    sequenceOf,
    lowerBound,
    useStreams,
    groupDocuments: () => ({ documents: byStream().documents, leave: () => undefined }),
    documentsOf: wanted => documentsOfStreams(useStreams, byStream().streamStarts, wanted),
    textAt: place => {
      const line = order[byStream().documents[place] ?? 0] ?? 0
      return text.subarray(textStarts[line], textStarts[line + 1])
    },
    testText: (place, passes) => {
      const line = order[byStream().documents[place] ?? 0] ?? 0
      return passes(text, textStarts[line] ?? 0, textStarts[line + 1] ?? 0)
    },
    leaveTexts: () => undefined,
    // The lines themselves and their words are whose they were.
    close: () => {
      for (const made of [order, documentOfLine, grouped?.documents, grouped?.column])
        if (made !== undefined) release(made)
    },
  }
}
