/** A field of a protobuf message: numbers have a `value`, all others `bytes`. */
export type Field =
  | { readonly number: number; readonly value: bigint; readonly bytes?: never }
  | { readonly number: number; readonly bytes: Buffer; readonly value?: never }

/** A message that is not valid protobuf. */
export class WireError extends Error {}

/**
 * Iterates the fields of a message (protobuf.dev, Encoding), including unknown ones. Skips groups,
 * since no message of OTLP, Loki or Kubernetes uses them.
 *
 * @throws WireError
 */
export function* readFields(message: Buffer): Generator<Field> {
  let at = 0

  function varint(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[at++]
      if (byte === undefined) throw new WireError('a number is truncated')
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw new WireError('a number is longer than ten bytes')
  }

  /** Reads a tag or a length. Most are one byte, which needs no bigint arithmetic. */
  function small(): number {
    const byte = message[at]
    if (byte !== undefined && byte < 0x80) {
      at++
      return byte
    }
    return Number(varint())
  }

  function take(length: number): Buffer {
    if (length > message.length - at) throw new WireError('a field is truncated')
    at += length
    return message.subarray(at - length, at)
  }

  function fieldOf(number: number, type: number): Field {
    if (type === 0) return { number, value: varint() }
    if (type === 1) return { number, value: take(8).readBigUInt64LE() }
    if (type === 2) return { number, bytes: take(small()) }
    if (type === 5) return { number, value: BigInt(take(4).readUInt32LE()) }
    throw new WireError(`unknown wire type ${type}`)
  }

  let groups = 0
  while (at < message.length) {
    const tag = small()
    const number = Math.floor(tag / 8)
    if (number === 0) throw new WireError('a field has the number 0')
    if (tag % 8 === 3) groups += 1
    else if (tag % 8 === 4 && groups > 0) groups -= 1
    else {
      const field = fieldOf(number, tag % 8)
      if (groups === 0) yield field
    }
  }
  if (groups > 0) throw new WireError('a group is not ended')
}

/** Iterates the fields of a message; stops without an error at the first that is malformed. */
export function* readValidFields(message: Buffer): Generator<Field> {
  try {
    yield* readFields(message)
  } catch (error) {
    if (!(error instanceof WireError)) throw error
  }
}

/** Returns the bytes of a string or embedded message. @throws WireError for a number */
export function bytesOf({ number, bytes }: Field): Buffer {
  if (bytes === undefined) throw new WireError(`field ${number} has the wrong wire type`)
  return bytes
}

/** Returns the value of a number. @throws WireError if the field is not a number */
export function numberOf({ number, value }: Field): bigint {
  if (value === undefined) throw new WireError(`field ${number} has the wrong wire type`)
  return value
}

/** Encodes a non-negative integer as a varint. */
export function writeVarint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80)
    rest = Math.floor(rest / 0x80)
  }
  return Buffer.from([...bytes, rest])
}
