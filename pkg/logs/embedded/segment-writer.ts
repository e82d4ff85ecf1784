import { release } from '../own-memory.ts'
import { createByteWriter } from './bytes.ts'
import { writeDictionary } from './dictionary-writer.ts'
import { type Grouped, groupByStream, rankStreams, sequenceRange, sortLines } from './line-order.ts'
import type { Lines } from './lines.ts'
import {
  encodeFooter,
  type Footer,
  type Output,
  type Piece,
  textBlockBytes,
  timeBlockSize,
  useCompressed,
} from './segment-format.ts'
import { writeColumn } from './stream-column.ts'
import { createIndexer, type Indexer, type WordIndex } from './word-index.ts'
import { createListGatherer, type WordLists } from './word-lists.ts'

/** Takes the parts of a segment as they are made, in order; each holds until it returns. */
export type Sink = (bytes: Uint8Array) => void

export type SegmentMeans = {
  /** Called about every millisecond of the work. */
  readonly giveWay: () => void
  /** Of all segments that are made one after the other. */
  readonly indexer: Indexer<WordLists>
}

/** Makes a segment of lines; what is written is at most what is compressed at a time. */
export function writeSegment(lines: Lines, sink: Sink, means: Partial<SegmentMeans> = {}): Footer {
  const { giveWay = () => undefined, indexer = createIndexer(createListGatherer()) } = means
  let offset = 0
  const output: Output = {
    put: bytes => {
      const piece = { offset, length: bytes.length }
      sink(bytes)
      offset += bytes.length
      return piece
    },
  }
  const order = sortLines(lines)
  const grouped = groupByStream(lines, order, rankStreams(lines.streams))
  const footer: Footer = {
    version: 3,
    day: lines.day,
    count: lines.count,
    firstTime: lines.times[order[0] ?? 0] ?? 0,
    lastTime: lines.times[order.at(-1) ?? 0] ?? 0,
    ...sequenceRange(lines.sequences),
    textBytes: lines.text.length,
    streams: grouped.streams.map((stream, i) => ({ ...stream, lines: linesOf(grouped, i) })),
    texts: writeTexts(lines, order, grouped.documents, output),
    times: writeTimes(lines, order, output),
    streamOf: writeColumn(grouped.column, output),
    ...writeDictionary(indexWords(lines, order, { giveWay, indexer }), lines.count, output),
  }
  sink(encodeFooter(footer))
  release(order)
  release(grouped.documents)
  release(grouped.column)
  return footer
}

function indexWords(lines: Lines, order: Uint32Array, { giveWay, indexer }: SegmentMeans): WordIndex {
  const steps = indexer(lines, order)
  let step = steps.next()
  for (; !step.done; step = steps.next()) giveWay()
  return step.value
}

/** A block is the number of its lines, their lengths, and their texts. */
function writeTexts(
  lines: Lines,
  order: Uint32Array,
  documents: Uint32Array,
  output: Output,
): Footer['texts'] {
  const { text, textStarts } = lines
  const pieces: (Piece & { first: number })[] = []
  const head = createByteWriter(4096)
  const body = createByteWriter(2 * textBlockBytes)
  const block = createByteWriter(2 * textBlockBytes)
  for (let place = 0; place < documents.length; ) {
    const first = place
    head.clear()
    body.clear()
    for (; place < documents.length && body.length() < textBlockBytes; place += 1) {
      const line = order[documents[place] ?? 0] ?? 0
      const start = textStarts[line] ?? 0
      const end = textStarts[line + 1] ?? 0
      head.uint32(end - start)
      body.slice(text, start, end)
    }
    block.clear()
    block.uint32(place - first)
    block.bytes(head.view())
    block.bytes(body.view())
    pieces.push({ ...useCompressed(block.view(), output.put), first })
  }
  for (const writer of [head, body, block]) writer.release()
  return pieces
}

/** For each document what its time lies behind the one before, and its sequence behind the one after that of the one before. */
function writeTimes({ times, sequences }: Lines, order: Uint32Array, output: Output): Footer['times'] {
  const pieces: (Piece & { firstTime: number })[] = []
  const block = createByteWriter(8 * timeBlockSize)
  for (let from = 0; from < order.length; from += timeBlockSize) {
    const to = Math.min(from + timeBlockSize, order.length)
    const firstTime = times[order[from] ?? 0] ?? 0
    let [time, sequence] = [firstTime, 0]
    block.clear()
    for (let document = from; document < to; document += 1) {
      const line = order[document] ?? 0
      block.varint((times[line] ?? 0) - time)
      time = times[line] ?? 0
    }
    for (let document = from; document < to; document += 1) {
      const next = sequences[order[document] ?? 0] ?? 0
      const step = next - sequence
      block.varint(step < 0 ? -2 * step - 1 : 2 * step)
      sequence = next + 1
    }
    pieces.push({ ...useCompressed(block.view(), output.put), firstTime })
  }
  block.release()
  return pieces
}

function linesOf({ streamStarts }: Grouped, stream: number): number {
  return (streamStarts[stream + 1] ?? 0) - (streamStarts[stream] ?? 0)
}
