import { setTimeout as sleep } from 'node:timers/promises'
import { InterruptedError, type Io } from '../command.ts'

export type Pace = {
  /** The speed; 1 is the speed of the session. */
  readonly speed: number
  /** Longest pause in seconds of the session; longer pauses are shortened. */
  readonly idleLimit: number
}

/** Resets colours and cursor and leaves the alternate screen, in case the recording did not. */
const restore = '\x1b[0m\x1b[?25h\x1b[?1049l\n'

/**
 * Prints the output of an asciicast (version 2) at the speed of the session.
 *
 * @throws Error if the input is not an asciicast; InterruptedError
 */
export async function playCast(
  cast: string,
  { speed, idleLimit }: Pace,
  io: Pick<Io, 'out' | 'signal'>,
): Promise<void> {
  const [header = '', ...lines] = cast.split('\n').filter(line => line !== '')
  if (Object(parse(header)).version !== 2) throw new Error('the recording is not an asciicast of version 2')
  let last = 0
  try {
    for (const line of lines) {
      const event = parse(line)
      if (!Array.isArray(event)) continue
      const [seconds, code, data] = event
      const pause = Math.min(Number(seconds) - last, idleLimit) / speed
      last = Number(seconds)
      if (pause > 0) await sleep(pause * 1_000, undefined, { signal: io.signal })
      if (code === 'o') io.out(String(data))
    }
  } catch (error) {
    throw io.signal.aborted ? new InterruptedError() : error
  } finally {
    io.out(restore)
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
