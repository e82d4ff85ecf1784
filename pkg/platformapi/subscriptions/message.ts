import { badRequest } from '../../apierrors/status.ts'
import { isRecord } from '../../kubeclient/object/object.ts'

/** A message from the client of a connection. */
export type SubscriptionMessage =
  | { readonly type: 'SUBSCRIBE'; readonly id: string; readonly path: string }
  | { readonly type: 'UNSUBSCRIBE'; readonly id: string }

const idForm = /^[\w.:/-]{1,64}$/

/**
 * Parses a message: `{"type":"SUBSCRIBE","id":"pods","path":"/kapis/…?watch=true"}` or
 * `{"type":"UNSUBSCRIBE","id":"pods"}`.
 *
 * @throws Status 400 that names the field
 */
export function parseSubscriptionMessage(text: string): SubscriptionMessage {
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    throw badRequest('invalid message: expected a JSON object')
  }
  return readMessage(message)
}

/** Parses subscriptions: `[{"id":"pods","path":"/kapis/…?watch=true"}]`. @throws Status 400 */
export function parseSubscriptions(text: string): readonly SubscriptionMessage[] {
  const expected = 'invalid subscriptions: expected a JSON array of {"id", "path"}'
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch {
    throw badRequest(expected)
  }
  if (!Array.isArray(list) || list.length === 0) throw badRequest(expected)
  return list.map((item: unknown) => {
    if (!isRecord(item)) throw badRequest(expected)
    return readMessage({ ...item, type: 'SUBSCRIBE' })
  })
}

function readMessage(message: unknown): SubscriptionMessage {
  if (!isRecord(message)) throw badRequest('invalid message: expected a JSON object')
  const { type, id, path } = message
  if (typeof id !== 'string' || !idForm.test(id))
    throw badRequest('invalid id: expected 1 to 64 letters, digits or any of _ . : / -')
  if (type === 'UNSUBSCRIBE') return { type, id }
  if (type !== 'SUBSCRIBE')
    throw badRequest(`unknown type ${JSON.stringify(type ?? '')}; supported: SUBSCRIBE, UNSUBSCRIBE`)
  if (typeof path !== 'string' || !path.startsWith('/'))
    throw badRequest('invalid path: expected a path with watch=true, such as /kapi/v1/pods?watch=true')
  return { type, id, path }
}
