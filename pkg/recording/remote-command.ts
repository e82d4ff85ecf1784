export type ChannelMessage = { readonly channel: number; readonly data: Buffer }

export type ChannelCodec = {
  /** Returns undefined if the message has no valid channel. */
  readonly decode: (message: Buffer) => ChannelMessage | undefined
  /** Returns an unmasked WebSocket frame. Text beyond 125 bytes is cut off. */
  readonly encode: (channel: number, text: string) => Buffer
}

// First byte of a frame (RFC 6455 section 5.2): FIN bit and opcode.
const frame = { text: 0x81, binary: 0x82 }
const maxShort = 125

const binary: ChannelCodec = {
  decode: message =>
    message[0] === undefined ? undefined : { channel: message[0], data: message.subarray(1) },
  encode: (channel, text) => toFrame(frame.binary, Buffer.concat([Buffer.of(channel), Buffer.from(text)])),
}

/** The channel as an ASCII digit, then the data in base64. */
const base64: ChannelCodec = {
  decode(message) {
    const channel = message[0] === undefined ? -1 : message[0] - 0x30
    const isDigit = channel >= 0 && channel <= 9
    return isDigit ? { channel, data: Buffer.from(message.toString('latin1', 1), 'base64') } : undefined
  },
  encode: (channel, text) =>
    toFrame(frame.text, Buffer.from(`${channel}${Buffer.from(text).toString('base64')}`)),
}

/** WebSocket subprotocols of exec and attach; '' for clients that offer none. */
const codecs: Readonly<Record<string, ChannelCodec>> = {
  '': binary,
  'channel.k8s.io': binary,
  'v4.channel.k8s.io': binary,
  'v5.channel.k8s.io': binary,
  'base64.channel.k8s.io': base64,
  'v4.base64.channel.k8s.io': base64,
}

/** Returns the codec of a subprotocol; undefined if it is unknown. */
export function channelCodec(subprotocol: string): ChannelCodec | undefined {
  return Object.hasOwn(codecs, subprotocol) ? codecs[subprotocol] : undefined
}

function toFrame(head: number, payload: Buffer): Buffer {
  const cut = payload.subarray(0, maxShort)
  return Buffer.concat([Buffer.of(head, cut.length), cut])
}

/** Parses the data of a resize message; undefined if it is invalid. */
export function parseTerminalSize(
  data: Buffer,
): { readonly width: number; readonly height: number } | undefined {
  try {
    const { Width: width, Height: height } = Object(JSON.parse(data.toString()))
    return isSize(width) && isSize(height) ? { width, height } : undefined
  } catch {
    return undefined
  }
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 65_535
}
