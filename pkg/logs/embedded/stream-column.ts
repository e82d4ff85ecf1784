import { releaseOwn } from '../own-memory.ts'
import type { Decompress } from './decompress.ts'
import { type Output, type StoredColumn, useCompressed } from './segment-format.ts'
import type { Source } from './source.ts'
import { forEachStep } from './steps.ts'

/** For each document the number of its stream: as narrow as these numbers are. */
export type StreamColumn = Uint8Array | Uint16Array | Uint32Array

export function emptyColumn(count: number, streams: number): StreamColumn {
  if (streams <= 2 ** 8) return new Uint8Array(count)
  return streams <= 2 ** 16 ? new Uint16Array(count) : new Uint32Array(count)
}

export function writeColumn(column: StreamColumn, output: Output): StoredColumn {
  const bytes = Buffer.from(column.buffer, column.byteOffset, column.byteLength)
  return useCompressed(bytes, packed =>
    packed.length < bytes.length / 2
      ? { ...output.put(packed), form: 'packed' }
      : { ...output.put(bytes), form: 'plain' },
  )
}

/**
 * @param streamStarts where each stream begins where all documents stand stream by stream, and where the last one ends
 * @param work has the column until it returns
 */
export function useColumn<T>(
  { form, ...piece }: StoredColumn,
  streamStarts: Uint32Array,
  access: Pick<Source, 'use'> & { readonly decompress: Decompress },
  work: (column: StreamColumn) => T,
): T {
  const { use, decompress } = access
  if (form === 'plain') return use(piece, bytes => work(viewOf(bytes, streamStarts)))
  const bytes = use(piece, decompress)
  try {
    return work(form === 'packed' ? viewOf(bytes, streamStarts) : columnOfSteps(bytes, streamStarts))
  } finally {
    releaseOwn(bytes)
  }
}

/** Numbers have the lowest byte first, as in all processors that Kapis is built for. */
function viewOf(bytes: Buffer, streamStarts: Uint32Array): StreamColumn {
  const streams = streamStarts.length - 1
  const count = streamStarts[streams] ?? 0
  const width = emptyColumn(0, streams).BYTES_PER_ELEMENT
  if (bytes.length !== count * width) throw new RangeError('segment: the streams of its lines are not whole')
  // Where a number may begin is for the processor to say.
  const { buffer, byteOffset } = bytes.byteOffset % width === 0 ? bytes : Uint8Array.from(bytes)
  if (width === 1) return new Uint8Array(buffer, byteOffset, count)
  return width === 2 ? new Uint16Array(buffer, byteOffset, count) : new Uint32Array(buffer, byteOffset, count)
}

function columnOfSteps(bytes: Buffer, streamStarts: Uint32Array): StreamColumn {
  const streams = streamStarts.length - 1
  const column = emptyColumn(streamStarts[streams] ?? 0, streams)
  let at = 0
  for (let stream = 0; stream < streams; stream += 1) {
    const lines = (streamStarts[stream + 1] ?? 0) - (streamStarts[stream] ?? 0)
    at = forEachStep(bytes, at, lines, document => {
      column[document] = stream
    })
  }
  return column
}
