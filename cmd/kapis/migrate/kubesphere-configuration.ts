import { readFileSync } from 'node:fs'
import { type Document, isMap, isSeq, parseAllDocuments, type YAMLParseError } from 'yaml'
import { readRegularFile } from '../../../pkg/files/read-regular-file.ts'
import { fieldsOf, isRecord } from '../../../pkg/kubeclient/object/object.ts'

export type Fields = Readonly<Record<string, unknown>>

export type Source = {
  readonly configuration: Fields
  /** Paths of keys that are given more than once. The last one counts, as in KubeSphere. */
  readonly repeated: readonly string[]
}

const fileName = 'kubesphere.yaml'

/**
 * Reads the configuration of KubeSphere from its file, or from the ConfigMap or Secret that
 * contains it.
 *
 * @param file a path, or - for standard input
 * @throws Error if the file contains no KubeSphere configuration
 */
export function readSource(file: string): Source {
  const bytes = file === '-' ? readFileSync(0) : readRegularFile(file)
  const found = parseText(bytes.toString('utf8'), file).flatMap(withItems)
  // Other objects may be in the same file, such as those that `kubectl get` lists.
  const held = found.filter(
    ({ configuration }) => configuration.kind === undefined || textIn(configuration) !== undefined,
  )
  const [only, ...more] = held.length === 0 ? found : held
  if (only === undefined) throw new Error(`${file}: is not a configuration`)
  if (more.length > 0 && held.length > 0)
    throw new Error(`${file}: has ${held.length} configurations; expected one`)
  return contentOf(only, file)
}

/** Returns the configuration that is this document, or that this ConfigMap or Secret holds. */
function contentOf(source: Source, file: string): Source {
  const { configuration: document } = source
  const { kind } = document
  if (kind === undefined) return source
  if (kind !== 'ConfigMap' && kind !== 'Secret')
    throw new Error(
      `${file}: is a ${String(kind)}; expected ${fileName}, or the ConfigMap or Secret that holds it`,
    )
  const text = textIn(document)
  if (text === undefined) throw new Error(`${file}: the ${kind} has no ${fileName}`)
  const [content] = parseText(text, file)
  if (content === undefined) throw new Error(`${file}: is not a configuration`)
  return content
}

/** Returns the objects of a list, or the document itself. */
function withItems(source: Source): readonly Source[] {
  const { kind, items } = source.configuration
  const isList = typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)
  return isList ? items.filter(isRecord).map(configuration => ({ configuration, repeated: [] })) : [source]
}

function textIn({ kind, data, stringData, binaryData }: Fields): string | undefined {
  const isSecret = kind === 'Secret'
  const [plain, encoded] = [isSecret ? stringData : data, isSecret ? data : binaryData].map(
    members => fieldsOf(members)[fileName],
  )
  if (typeof plain === 'string') return plain
  return typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString('utf8') : undefined
}

/** Returns the documents of a text, without empty ones. */
function parseText(text: string, file: string): readonly Source[] {
  // KubeSphere 3.4 reads YAML with repeated keys, which its installer writes, and with merge keys.
  const documents = parseAllDocuments(text, { uniqueKeys: false, merge: true })
  return documents.flatMap(document => {
    const [error] = document.errors
    if (error !== undefined) throw new Error(`${file}: is not valid YAML${positionOf(error)}`)
    const configuration = toValue(document, file)
    if (configuration === null) return []
    if (!isRecord(configuration)) throw new Error(`${file}: is not a configuration`)
    return [{ configuration, repeated: [...new Set(repeatedKeys(document.contents))] }]
  })
}

/** Returns the path of each key that a mapping has more than once. */
function repeatedKeys(node: unknown, path = ''): readonly string[] {
  if (isSeq(node)) return node.items.flatMap((item, index) => repeatedKeys(item, `${path}[${index}]`))
  if (!isMap(node)) return []
  const seen = new Set<string>()
  return node.items.flatMap(({ key, value }) => {
    const name = String(key)
    const innerPath = path === '' ? name : `${path}.${name}`
    const isRepeated = seen.has(name)
    seen.add(name)
    return [...(isRepeated ? [innerPath] : []), ...repeatedKeys(value, innerPath)]
  })
}

function toValue(document: Document.Parsed, file: string): unknown {
  try {
    return document.toJS()
  } catch {
    throw new Error(`${file}: has too many aliases, or an unknown one`)
  }
}

/** Returns where an error is. Its message is omitted: it quotes the line, which may contain a password. */
function positionOf({ linePos }: YAMLParseError): string {
  return linePos === undefined ? '' : ` (line ${linePos[0].line}, column ${linePos[0].col})`
}
