import type { IncomingMessage } from 'node:http'
import type { Status } from '../status/status.ts'

/** Why a 401 or 403 is not handed on; undefined when it is. */
export type RefusalByBody = (code: number, body: Buffer) => Status | undefined

export const isHeld = (code: number | undefined) => code === 401 || code === 403

// What is longer than this is no refusal of the orchestrator's.
export const maxHeldBytes = 65_536

type Verdict = {
  readonly handOn: (early: readonly Buffer[]) => void
  readonly refuse: (refused: Status) => void
}

/** Reads a refusal to its end before it is handed on; one that is too long for a refusal goes on as it comes. */
export function holdRefusal(
  answer: IncomingMessage,
  judge: (body: Buffer) => Status | undefined,
  { handOn, refuse }: Verdict,
): void {
  const chunks: Buffer[] = []
  let size = 0
  const take = (chunk: Buffer) => {
    chunks.push(chunk)
    size += chunk.length
    if (size <= maxHeldBytes) return
    answer.off('data', take).off('end', decide)
    handOn(chunks)
  }
  const decide = () => {
    const refused = judge(Buffer.concat(chunks))
    if (refused === undefined) handOn(chunks)
    else refuse(refused)
  }
  answer.on('data', take).once('end', decide)
}
