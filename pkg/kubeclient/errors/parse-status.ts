import type { Details, Reason } from '../../apierrors/status.ts'
import { readFields, WireError } from '../../protobuf/wire.ts'
import { isRecord } from '../object/object.ts'

/** The Status in the body of a response of kube-apiserver. */
export type UpstreamStatus = {
  readonly message?: string
  readonly reason?: Reason
  readonly details?: Details
  readonly code?: number
}

const magic = Buffer.from('k8s\0')

/**
 * Reads a metav1.Status in JSON or in the protobuf of Kubernetes. Fields of the wrong type are
 * omitted. Of protobuf details only name, group and kind are read.
 *
 * @returns undefined if the body is not a Status
 */
export function parseStatus(body: Buffer): UpstreamStatus | undefined {
  try {
    return body.subarray(0, magic.length).equals(magic)
      ? readProtobuf(body.subarray(magic.length))
      : readJson(body)
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof WireError) return undefined
    throw error
  }
}

function readJson(body: Buffer): UpstreamStatus | undefined {
  const parsed: unknown = JSON.parse(body.toString('utf8'))
  if (!isRecord(parsed) || (parsed.kind ?? 'Status') !== 'Status') return undefined
  const { message, reason, details, code } = parsed
  return {
    ...(typeof message === 'string' ? { message } : {}),
    ...(typeof reason === 'string' ? { reason: reason as Reason } : {}),
    ...(isRecord(details) ? { details } : {}),
    ...(typeof code === 'number' ? { code } : {}),
  }
}

/** Reads runtime.Unknown: a message with the type and the bytes of another message. */
function readProtobuf(body: Buffer): UpstreamStatus | undefined {
  const { 1: type, 2: raw } = bytesOf(body)
  const { 1: apiVersion, 2: kind } = textsOf(type)
  if (kind !== 'Status' || apiVersion !== 'v1' || raw === undefined) return undefined
  const { 3: message, 4: reason } = textsOf(raw)
  const { 1: name, 2: group, 3: ofKind } = textsOf(bytesOf(raw)[5])
  const code = [...readFields(raw)].find(({ number }) => number === 6)?.value
  return {
    ...(message === undefined ? {} : { message }),
    ...(reason === undefined ? {} : { reason: reason as Reason }),
    details: {
      ...(name === undefined ? {} : { name }),
      ...(group === undefined ? {} : { group }),
      ...(ofKind === undefined ? {} : { kind: ofKind }),
    },
    ...(code === undefined ? {} : { code: Number(code) }),
  }
}

function bytesOf(message: Buffer | undefined): Readonly<Record<number, Buffer>> {
  const fields = message === undefined ? [] : [...readFields(message)]
  return Object.fromEntries(fields.flatMap(({ number, bytes }) => (bytes ? [[number, bytes]] : [])))
}

function textsOf(message: Buffer | undefined): Readonly<Record<number, string>> {
  const fields = Object.entries(bytesOf(message))
  return Object.fromEntries(fields.map(([number, bytes]) => [number, bytes.toString('utf8')]))
}
