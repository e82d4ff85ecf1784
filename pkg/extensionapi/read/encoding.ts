import type { IncomingMessage } from 'node:http'
import type { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { indentJson } from '../../json/indent.ts'
import { jsonToYaml } from '../../yaml/write.ts'
import type { NegotiatedMediaType } from './accept.ts'

/** The encoding of a response. Compact JSON is stored in this form and needs no conversion. */
export type Encoding = 'json' | 'pretty' | 'yaml'

/** Selects the encoding. Like kube-apiserver, indents JSON for command line clients. */
export function toEncoding(
  accepted: NegotiatedMediaType,
  req: IncomingMessage,
  query: QueryParameters,
): Encoding {
  if (accepted.media === 'yaml') return 'yaml'
  if (accepted.pretty) return 'pretty'
  const pretty = query.get('pretty')
  if (pretty !== null) return pretty === '1' || pretty === 'true' ? 'pretty' : 'json'
  return /^(curl|Wget|Mozilla\/5\.0)/.test(req.headers['user-agent'] ?? '') ? 'pretty' : 'json'
}

export function contentType(encoding: Encoding): string {
  return encoding === 'yaml' ? 'application/yaml' : 'application/json'
}

/** Converts an object from JSON. Numbers, escapes and the order of keys are preserved. */
export function reencode(json: Buffer | string, encoding: Encoding): Buffer {
  if (encoding === 'json') return Buffer.from(json)
  const text = json.toString()
  return Buffer.from(encoding === 'yaml' ? jsonToYaml(text) : `${indentJson(text)}\n`)
}

/**
 * Writes a list item by item, so that the text of the whole list is never in memory.
 *
 * @param head all fields of the list except the items
 * @param items the JSON text of each item
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
  yield Buffer.from(jsonToYaml(JSON.stringify(head)))
  let isEmpty = true
  for (const item of items) {
    if (isEmpty) yield Buffer.from(`${itemsKey}:\n`)
    isEmpty = false
    yield Buffer.from(jsonToYaml(`[${item}]`))
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
    yield Buffer.from(`${separator}    ${indentJson(item.toString(), '    ')}`)
    separator = ',\n'
  }
  yield Buffer.from(separator === '\n' ? ']\n}\n' : '\n  ]\n}\n')
}
