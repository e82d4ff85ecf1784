import { type FileHandle, open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Frame, readFrames } from './frame.ts'

/** Lines that are not in a segment yet, in files with ascending numbers. */
export type WriteAheadLog = {
  /**
   * Resolves when the frame is on the disk. What waits while the disk is busy goes there together. `onDurable` is called
   * right then, in the order in which the frames stand in the file, with the file's number and where the frame begins in it.
   */
  readonly append: (frame: Frame, onDurable: (file: number, offset: number) => void) => Promise<void>
  /** Begins a new file; resolves with the number of the one before, in which all frames are that were appended so far. */
  readonly rotate: () => Promise<number>
  readonly close: () => Promise<void>
}

type Waiting = {
  readonly frame: Frame
  readonly onDurable: (file: number, offset: number) => void
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

const suffix = '.wal'

export async function createWriteAheadLog(folder: string, firstFile: number): Promise<WriteAheadLog> {
  let file = firstFile
  let handle = await create(folder, file)
  let size = 0
  let isTorn = false
  let waiting: Waiting[] = []
  let last: Promise<unknown> = Promise.resolve()

  /** One thing at a time, in order. */
  function enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work)
    last = result.catch(() => undefined)
    return result
  }

  async function next(): Promise<number> {
    const following = await create(folder, file + 1)
    await handle.close()
    handle = following
    size = 0
    isTorn = false
    file += 1
    return file - 1
  }

  /** What the disk holds beyond `size` after a failure is not known; nothing may follow it. */
  async function mend(): Promise<void> {
    await handle.truncate(size).catch(() => next())
    isTorn = false
  }

  async function writeAll(): Promise<void> {
    const group = waiting
    waiting = []
    if (group.length === 0) return
    let offset = 0
    try {
      if (isTorn) await mend()
      offset = size
      size += await write(
        handle,
        group.map(({ frame }) => frame.bytes),
        size,
      )
    } catch (error) {
      isTorn = true
      await mend().catch(() => undefined)
      for (const { reject } of group) reject(error)
      return
    }
    for (const { frame, onDurable, resolve } of group) {
      onDurable(file, offset)
      offset += frame.bytes.length
      resolve()
    }
  }

  return {
    append: (frame, onDurable) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      waiting.push({ frame, onDurable, resolve, reject })
      if (waiting.length === 1) void enqueue(writeAll)
      return promise
    },
    rotate: () => enqueue(next),
    close: () => enqueue(() => handle.close()),
  }
}

/** The files that are there, in order. */
export async function listWriteAheadLogs(folder: string): Promise<readonly number[]> {
  const names = await readdir(folder)
  return names
    .filter(name => name.endsWith(suffix))
    .map(name => Number.parseInt(name, 10))
    .sort((a, b) => a - b)
}

export function writeAheadLogFile(folder: string, file: number): string {
  return join(folder, `${String(file).padStart(10, '0')}${suffix}`)
}

/** @returns the frames of a file, and how many bytes after them are of no use */
export async function readWriteAheadLog(
  folder: string,
  file: number,
): Promise<{ readonly frames: readonly Frame[]; readonly tornBytes: number }> {
  const bytes = await readFile(writeAheadLogFile(folder, file))
  const frames = [...readFrames(bytes)]
  const used = frames.reduce((sum, frame) => sum + frame.bytes.length, 0)
  return { frames, tornBytes: bytes.length - used }
}

async function create(folder: string, file: number): Promise<FileHandle> {
  const handle = await open(writeAheadLogFile(folder, file), 'w')
  await syncFolder(folder)
  return handle
}

/** Makes the names in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function write(handle: FileHandle, parts: readonly Buffer[], position: number): Promise<number> {
  let written = 0
  for (const part of parts) {
    for (let at = 0; at < part.length; ) {
      const { bytesWritten } = await handle.write(part, at, part.length - at, position + written)
      at += bytesWritten
      written += bytesWritten
    }
  }
  await handle.datasync()
  return written
}
