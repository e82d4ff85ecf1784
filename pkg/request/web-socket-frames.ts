// RFC 6455 section 5, as far as a server needs it that sends messages and takes none.

/** Section 5.2: what a frame is. */
export const opcodes = { text: 0x1, close: 0x8, ping: 0x9, pong: 0xa }
/** Section 7.4.1: why a connection ends. */
export const closeCodes = { normal: 1000, protocolError: 1002 }

const known = new Set([0x0, 0x1, 0x2, 0x8, 0x9, 0xa])
const maxControlBytes = 125

/** One frame that is a whole message. */
export function toFrame(opcode: number, payload: Buffer): Buffer {
  return Buffer.concat([toFrameHead(opcode, payload.length), payload])
}

/** What stands before a payload of so many bytes. */
export function toFrameHead(opcode: number, length: number): Buffer {
  const head = Buffer.alloc(length <= maxControlBytes ? 2 : length < 65_536 ? 4 : 10)
  head[0] = 0x80 | opcode
  if (head.length === 2) head[1] = length
  else if (head.length === 4) {
    head[1] = 126
    head.writeUInt16BE(length, 2)
  } else {
    head[1] = 127
    head.writeBigUInt64BE(BigInt(length), 2)
  }
  return head
}

/** Length of the frame that begins with these bytes, as {@link toFrameHead} writes it. */
export function frameLength(bytes: Buffer): number {
  const short = bytes.readUInt8(1)
  if (short === 126) return 4 + bytes.readUInt16BE(2)
  return short === 127 ? 10 + Number(bytes.readBigUInt64BE(2)) : 2 + short
}

export function toCloseFrame(code: number): Buffer {
  const payload = Buffer.alloc(2)
  payload.writeUInt16BE(code)
  return toFrame(opcodes.close, payload)
}

/** What a client can say that matters. After `close` or `fail` nothing more is told. */
export type ClientFrames = {
  readonly ping: (payload: Buffer) => void
  readonly close: () => void
  /** It broke the protocol. */
  readonly fail: () => void
}

type Head = {
  readonly opcode: number
  readonly mask: Buffer
  readonly headBytes: number
  readonly bodyBytes: number
}

/**
 * Reads what a client sends, in whatever pieces it comes. Messages are passed over as they come in: of a frame no more is kept
 * than its head and what a control frame may hold.
 */
export function createFrameReader(told: ClientFrames): (chunk: Buffer) => void {
  const state: Reading = { rest: Buffer.alloc(0), passOver: 0, isOver: false }
  return chunk => {
    if (state.isOver) return
    const unwanted = Math.min(state.passOver, chunk.length)
    state.passOver -= unwanted
    state.rest = Buffer.concat([state.rest, chunk.subarray(unwanted)])
    while (!state.isOver && readFrame(state, told));
  }
}

type Reading = { rest: Buffer; passOver: number; isOver: boolean }

/** @returns whether there may be another one */
function readFrame(state: Reading, { ping, close, fail }: ClientFrames): boolean {
  const head = parseHead(state.rest)
  if (head === undefined) return false
  if (head === 'broken') {
    state.isOver = true
    fail()
    return false
  }
  const { opcode, mask, headBytes, bodyBytes } = head
  const end = headBytes + bodyBytes
  const missing = Math.max(0, end - state.rest.length)
  if (opcode < opcodes.close) state.passOver = missing
  else if (missing > 0) return false
  const body = state.rest.subarray(headBytes, end)
  state.rest = state.rest.subarray(end)
  if (opcode === opcodes.ping) ping(unmask(body, mask))
  if (opcode === opcodes.close) {
    state.isOver = true
    close()
  }
  return true
}

/** @returns undefined while it is not all there */
function parseHead(bytes: Buffer): Head | 'broken' | undefined {
  if (bytes.length < 2) return undefined
  const [first = 0, second = 0] = bytes
  const opcode = first & 0x0f
  const isControl = opcode >= opcodes.close
  const short = second & 0x7f
  // Section 5.1: what a client sends is masked. Section 5.5: control frames are short and whole. Nobody has agreed to extensions.
  if ((first & 0x70) !== 0 || !known.has(opcode) || (second & 0x80) === 0) return 'broken'
  if (isControl && (short > maxControlBytes || (first & 0x80) === 0)) return 'broken'
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0
  const headBytes = 2 + lengthBytes + 4
  if (bytes.length < headBytes) return undefined
  const long =
    lengthBytes === 2 ? bytes.readUInt16BE(2) : lengthBytes === 8 ? bytes.readBigUInt64BE(2) : short
  const bodyBytes = Number(long)
  if (!Number.isSafeInteger(bodyBytes)) return 'broken'
  return { opcode, mask: bytes.subarray(headBytes - 4, headBytes), headBytes, bodyBytes }
}

function unmask(body: Buffer, mask: Buffer): Buffer {
  return Buffer.from(body.map((byte, i) => byte ^ (mask[i % 4] ?? 0)))
}
