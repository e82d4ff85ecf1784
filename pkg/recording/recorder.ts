import { Status, unavailable } from '../apierrors/status.ts'
import { retry } from '../kubeclient/retry.ts'
import type { LogRecord } from '../logs/record.ts'
import type { LogStore } from '../logs/store.ts'
import type { AsciicastEvent } from './asciicast.ts'
import { idOf, type Session, type SessionEnd, toRecord } from './session.ts'

export type RecorderOptions = {
  readonly store: Pick<LogStore, 'append' | 'check'>
  /** Maximum output of a session, in bytes. */
  readonly maxBytes: () => number
  /** Delay before the first retry, in milliseconds; doubles with each further retry. */
  readonly retryMs?: number
}

export type Recording = {
  /**
   * Adds output of the container. Resolves when there is room for more.
   *
   * @throws Error if the output cannot be recorded; the caller must close the session
   */
  readonly output: (stream: 'stdout' | 'stderr', data: Buffer) => Promise<void>
  /** Adds a change of the terminal size. @throws Error like `output` */
  readonly resize: (width: number, height: number) => Promise<void>
  /**
   * Adds the end of the session. Resolves when everything is stored.
   *
   * @param why the reason if Kapis has ended the session
   * @throws Status
   */
  readonly end: (why?: string) => Promise<void>
}

export type Recorder = {
  /** Checks that sessions can be recorded. @throws Status 503 if the log store is unavailable */
  readonly check: () => Promise<void>
  /** Starts a recording. Resolves when its start record is stored. @throws Status */
  readonly start: (session: Session) => Promise<Recording>
  /** Ends all recordings. Resolves when each is stored or has failed. */
  readonly stop: () => Promise<void>
}

// Maximum length of a record. An event fits even if JSON escapes each character with six.
const maxRecordChars = 60_000
const maxEventChars = 8_000
// Beyond this length of unstored text, `output` pauses the session.
const maxWaitingChars = 512 * 1024
const gatherMs = 500
// Limits resize events: each is stored, and clients can send any number.
const maxSizes = 10_000
const attempts = 6

/** Creates a recorder that stores sessions as asciicasts while they run. */
export function createRecorder({ store, maxBytes, retryMs = 500 }: RecorderOptions): Recorder {
  const open = new Set<Recording>()

  async function append(records: readonly LogRecord[]): Promise<void> {
    // Identifies the records, so that OpenSearch does not store a retry twice.
    const batch = { records, ids: records.map(record => `${idOf(record)}/${record.timeNs}`) }
    const { rejected } = await retry(() => store.append(batch), {
      isRetriable: error => error instanceof Status && (error.code === 429 || error.code >= 500),
      attempts,
      delayMs: failed => retryMs * 2 ** (failed - 1),
    })
    const [rejection] = rejected
    if (rejection !== undefined)
      throw unavailable(`the log store rejected the recording: ${rejection.reason}`)
  }

  return {
    async check() {
      const problem = await store.check()
      if (problem !== undefined)
        throw unavailable(
          'the session must be recorded, and the log store is unavailable',
          new Error(problem),
        )
    },
    async start(session) {
      const clock = createClock()
      await append([toRecord(session, 'start', formatSession(session), clock.timeNs())])
      const recording = createRecording(session, {
        clock,
        maxBytes,
        append: (part, logs) => append(logs.map(log => toRecord(session, part, log, clock.timeNs()))),
        closed: () => open.delete(recording),
      })
      open.add(recording)
      return recording
    },
    async stop() {
      await Promise.allSettled([...open].map(recording => recording.end()))
    },
  }
}

/** Formats a session as JSON; shortens command and groups to fit into a record. */
function formatSession(session: Session): string {
  const whole = JSON.stringify(session)
  if (whole.length <= maxRecordChars) return whole
  const { groups, command } = session
  const cut = command.join(' ').slice(0, maxEventChars)
  return JSON.stringify({ ...session, groups: groups.slice(0, 100), command: [`${cut}…`], isShortened: true })
}

type Clock = {
  /** Seconds since the start. */
  readonly seconds: () => number
  /** Nanoseconds since 1970, strictly increasing to keep the order of records. */
  readonly timeNs: () => bigint
}

function createClock(): Clock {
  const [startedMs, started] = [Date.now(), performance.now()]
  let last = 0n
  const seconds = () => Math.round((performance.now() - started) * 1_000) / 1e6
  return {
    seconds,
    timeNs() {
      const now = BigInt(startedMs) * 1_000_000n + BigInt(Math.round(seconds() * 1e9))
      last = now > last ? now : last + 1n
      return last
    },
  }
}

type RecorderDependencies = {
  readonly clock: Clock
  readonly maxBytes: () => number
  readonly append: (part: 'output' | 'end', logs: readonly string[]) => Promise<void>
  /** Called when the recording has ended, whether its end was stored or not. */
  readonly closed: () => void
}

function createRecording(
  { startTimestamp }: Session,
  { clock, maxBytes, append, closed }: RecorderDependencies,
): Recording {
  // Keeps byte order marks, which the decoder would otherwise remove from the output.
  const newDecoder = () => new TextDecoder('utf-8', { ignoreBOM: true })
  const decoders = { stdout: newDecoder(), stderr: newDecoder() }
  let lines: string[] = []
  let chars = 0
  let outputBytes = 0
  let size = ''
  let sizes = 0
  let ended: Promise<void> | undefined
  let reason = ''
  let failure: unknown
  let timer: NodeJS.Timeout | undefined
  let storing: Promise<void> | undefined

  function add(event: AsciicastEvent): void {
    const line = JSON.stringify(event)
    lines.push(line)
    chars += line.length + 1
    timer ??= setTimeout(() => void store().catch(() => undefined), gatherMs)
  }

  /** Stores all pending events. */
  function store(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    storing ??= drain().finally(() => {
      storing = undefined
    })
    return storing
  }

  async function drain(): Promise<void> {
    if (failure !== undefined) throw failure
    while (lines.length > 0) {
      const stored = lines
      lines = []
      // All in one request: the output of the container waits while it is stored.
      await append('output', toLogs(stored)).catch(error => {
        failure = error
        throw error
      })
      chars -= stored.reduce((sum, line) => sum + line.length + 1, 0)
    }
  }

  function assertOpen(): void {
    if (failure !== undefined) throw failure
    if (ended !== undefined) throw new Error('the recording has ended')
  }

  /** Sets the reason that the end record will contain. @returns the error to throw */
  function fail(why: string): Error {
    reason = why
    return new Error(why)
  }

  async function storeEnd(): Promise<void> {
    for (const decoder of Object.values(decoders)) {
      const rest = decoder.decode()
      if (rest !== '') add([clock.seconds(), 'o', rest])
    }
    await store()
    const endTimestamp = new Date(Date.parse(startTimestamp) + clock.seconds() * 1_000).toISOString()
    await append('end', [JSON.stringify({ endTimestamp, outputBytes, reason } satisfies SessionEnd)])
  }

  return {
    async output(stream, data) {
      assertOpen()
      outputBytes += data.length
      const text = decoders[stream].decode(data, { stream: true })
      const seconds = clock.seconds()
      for (const piece of piecesOf(text)) add([seconds, 'o', piece])
      if (outputBytes > maxBytes()) throw fail(tooLarge)
      while (chars > maxWaitingChars) await store()
      if (chars > maxRecordChars) void store().catch(() => undefined)
    },
    async resize(width, height) {
      assertOpen()
      const next = `${width}x${height}`
      if (next === size) return
      size = next
      if (++sizes > maxSizes) throw fail(tooManySizes)
      add([clock.seconds(), 'r', next])
    },
    end(why = '') {
      reason ||= why
      ended ??= storeEnd().finally(closed)
      return ended
    },
  }
}

/** Joins lines to texts of at most `maxRecordChars`. */
function toLogs(lines: readonly string[]): readonly string[] {
  const logs: string[] = []
  let [start, length] = [0, 0]
  for (const [i, line] of lines.entries()) {
    length += line.length + 1
    if (i === start || length <= maxRecordChars) continue
    logs.push(lines.slice(start, i).join('\n'))
    start = i
    length = line.length + 1
  }
  return [...logs, lines.slice(start).join('\n')]
}

/** Splits a text into pieces of at most `maxEventChars`, never within a surrogate pair. */
function piecesOf(text: string): readonly string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length; ) {
    const next = at + maxEventChars
    const code = text.charCodeAt(next - 1)
    const end = code >= 0xd800 && code <= 0xdbff && next < text.length ? next - 1 : next
    pieces.push(text.slice(at, end))
    at = end
  }
  return pieces
}

const tooManySizes = 'the size of the terminal has changed too often'
const tooLarge = 'the output exceeds logs.recordings.maxMegabytes'
