import type { IncomingMessage } from 'node:http'
import { stringify } from 'yaml'
import type { Accepted } from './accept.ts'

/** The written form of an answer. JSON without line breaks is the one that costs nothing. */
export type Encoding = 'json' | 'pretty' | 'yaml'

// kubectl and Go read YAML 1.1, to which a plain `yes` or `0777` is no text.
const yamlOptions = { compat: 'yaml-1.1' } as const

/** kube-apiserver indents for people: when asked to, and for the programs that people type into. */
export function toEncoding(accepted: Accepted, req: IncomingMessage, query: URLSearchParams): Encoding {
  if (accepted.media === 'yaml') return 'yaml'
  if (accepted.pretty) return 'pretty'
  const asked = query.get('pretty')
  if (asked !== null) return asked === '1' || asked === 'true' ? 'pretty' : 'json'
  return /^(curl|Wget|Mozilla\/5\.0)/.test(req.headers['user-agent'] ?? '') ? 'pretty' : 'json'
}

export function contentType(encoding: Encoding): string {
  return encoding === 'yaml' ? 'application/yaml' : 'application/json'
}

/** Writes one object, given as JSON, in another form. */
export function reencode(json: Buffer | string, encoding: Encoding): Buffer {
  if (encoding === 'json') return Buffer.from(json)
  const value: unknown = JSON.parse(json.toString())
  return Buffer.from(
    encoding === 'yaml' ? stringify(value, yamlOptions) : `${JSON.stringify(value, null, 2)}\n`,
  )
}

/**
 * Writes a list item by item, so that even the largest never stands in memory as text.
 *
 * @param head the members beside the items
 * @param items each as JSON
 */
export function* reencodeList(
  head: Readonly<Record<string, unknown>>,
  itemsKey: 'items' | 'rows',
  items: Iterable<Buffer | string>,
  encoding: 'pretty' | 'yaml',
): Generator<Buffer> {
  if (encoding === 'yaml') yield* yamlList(head, itemsKey, items)
  else yield* prettyList(head, itemsKey, items)
}

function* yamlList(
  head: Readonly<Record<string, unknown>>,
  itemsKey: string,
  items: Iterable<Buffer | string>,
) {
  yield Buffer.from(stringify(head, yamlOptions))
  let isEmpty = true
  for (const item of items) {
    if (isEmpty) yield Buffer.from(`${itemsKey}:\n`)
    isEmpty = false
    yield Buffer.from(stringify([JSON.parse(item.toString())], yamlOptions))
  }
  if (isEmpty) yield Buffer.from(`${itemsKey}: []\n`)
}

function* prettyList(
  head: Readonly<Record<string, unknown>>,
  itemsKey: string,
  items: Iterable<Buffer | string>,
) {
  const opening = JSON.stringify(head, null, 2).slice(0, -2)
  yield Buffer.from(`${opening},\n  "${itemsKey}": [`)
  let separator = '\n'
  for (const item of items) {
    const text = JSON.stringify(JSON.parse(item.toString()), null, 2).replaceAll('\n', '\n    ')
    yield Buffer.from(`${separator}    ${text}`)
    separator = ',\n'
  }
  yield Buffer.from(separator === '\n' ? ']\n}\n' : '\n  ]\n}\n')
}
