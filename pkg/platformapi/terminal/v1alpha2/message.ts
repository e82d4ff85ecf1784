import { badRequest } from '../../../apierrors/status.ts'
import { isRecord } from '../../../kubeclient/object/object.ts'

/** A message from a terminal of KubeSphere 3.4. */
export type TerminalInput =
  | { readonly op: 'stdin'; readonly data: string }
  | { readonly op: 'resize'; readonly columns: number; readonly rows: number }

const isSize = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0xffff

/** Parses `{"Op":"stdin","Data":"ls"}` or `{"Op":"resize","Cols":80,"Rows":24}`. @throws Status */
export function parseTerminalInput(text: string): TerminalInput {
  const { Op, Data = '', Cols = 0, Rows = 0 } = parse(text)
  if (Op === 'stdin' && typeof Data === 'string') return { op: 'stdin', data: Data }
  if (Op === 'resize' && isSize(Cols) && isSize(Rows)) return { op: 'resize', columns: Cols, rows: Rows }
  throw badRequest('expected {"Op":"stdin","Data":text} or {"Op":"resize","Cols":number,"Rows":number}')
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const message: unknown = JSON.parse(text)
    return isRecord(message) ? message : {}
  } catch {
    return {}
  }
}

/** Formats a message to a terminal: output, or a notice (`toast`). @returns a line */
export function formatTerminalOutput(op: 'stdout' | 'toast', data: string): string {
  return `${JSON.stringify({ Op: op, Data: data })}\n`
}
