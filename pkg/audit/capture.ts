import type { IncomingMessage, ServerResponse } from 'node:http'
import { hooksOf, requestHooksOf } from '../httpserver/hooked-message.ts'
import { compactJson, fieldText, itemTexts, withFields, withoutField } from '../json/fields.ts'
import { isRecord } from '../kubeclient/object/object.ts'

/**
 * A copy of a body. `json` returns its source text on one line (JSON.parse would round large
 * numbers); undefined for compressed or too large bodies and for all but JSON objects.
 */
export type Capture = { readonly json: () => string | undefined }

// Larger bodies are not recorded: they would fill memory and the audit log.
const maxBytes = 256 * 1024

/** Copies a body while a handler reads it. Must be called in the turn of its arrival. */
export function captureRequest(req: IncomingMessage): Capture {
  const kept = createKeeper(() => req.headers)
  requestHooksOf(req).onChunk(kept.add)
  return kept
}

/** Copies a response body while a handler writes it. */
export function captureResponse(res: ServerResponse): Capture {
  const kept = createKeeper(() => res.getHeaders())
  hooksOf(res).onChunk(kept.add)
  return kept
}

function createKeeper(headers: () => Readonly<Record<string, unknown>>) {
  const chunks: Buffer[] = []
  let size = 0
  return {
    add(bytes: Buffer) {
      size += bytes.length
      if (size <= maxBytes) chunks.push(bytes)
      else chunks.length = 0
    },
    json() {
      if (size === 0 || size > maxBytes || headers()['content-encoding'] !== undefined) return undefined
      try {
        const text = Buffer.concat(chunks).toString('utf8')
        return isRecord(JSON.parse(text)) ? compactJson(text) : undefined
      } catch {
        return undefined
      }
    },
  }
}

/** Returns an object, or a list of objects, without metadata.managedFields. */
export function withoutManagedFields(json: string): string {
  const items = itemTexts(fieldText(json, 'items'))
  const own = withoutField(json, ['metadata', 'managedFields'])
  if (items.length === 0) return own
  return withFields(own, new Map([['items', `[${items.map(withoutManagedFields).join(',')}]`]]))
}
