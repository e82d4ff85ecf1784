import { readFileSync } from 'node:fs'
import { type Document, parseAllDocuments, type YAMLParseError } from 'yaml'
import { readRegularFile } from '../../../pkg/files/read-regular-file.ts'
import { isRecord, membersOf } from '../../../pkg/kubeclient/object/object.ts'

export type Fields = Readonly<Record<string, unknown>>

const fileName = 'kubesphere.yaml'

/**
 * Reads the configuration of KubeSphere from its file, or from the ConfigMap or Secret that
 * contains it.
 *
 * @param file a path, or - for standard input
 * @throws Error if the file contains no KubeSphere configuration
 */
export function readSource(file: string): Fields {
  const bytes = file === '-' ? readFileSync(0) : readRegularFile(file)
  const found = parseText(bytes.toString('utf8'), file).flatMap(withItems)
  // Other objects may be in the same file, such as those that `kubectl get` lists.
  const held = found.filter(document => document.kind === undefined || textIn(document) !== undefined)
  const [only, ...more] = held.length === 0 ? found : held
  if (only === undefined) throw new Error(`${file}: is not a configuration`)
  if (more.length > 0 && held.length > 0)
    throw new Error(`${file}: has ${held.length} configurations; expected one`)
  return contentOf(only, file)
}

/** Returns the configuration that is this document, or that this ConfigMap or Secret holds. */
function contentOf(document: Fields, file: string): Fields {
  const { kind } = document
  if (kind === undefined) return document
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
function withItems(document: Fields): readonly Fields[] {
  const { kind, items } = document
  const isList = typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)
  return isList ? items.filter(isRecord) : [document]
}

function textIn({ kind, data, stringData, binaryData }: Fields): string | undefined {
  const isSecret = kind === 'Secret'
  const [plain, encoded] = [isSecret ? stringData : data, isSecret ? data : binaryData].map(
    members => membersOf(members)[fileName],
  )
  if (typeof plain === 'string') return plain
  return typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString('utf8') : undefined
}

/** Returns the documents of a text, without empty ones. */
function parseText(text: string, file: string): readonly Fields[] {
  const documents = parseAllDocuments(text)
  const values = documents.map(document => {
    const [error] = document.errors
    if (error !== undefined) throw new Error(`${file}: is not valid YAML${placeOf(error)}`)
    return toValue(document, file)
  })
  const filled = values.filter(value => value !== null)
  if (!filled.every(isRecord)) throw new Error(`${file}: is not a configuration`)
  return filled
}

function toValue(document: Document.Parsed, file: string): unknown {
  try {
    return document.toJS()
  } catch {
    throw new Error(`${file}: has too many aliases, or an unknown one`)
  }
}

/** Returns where an error is. Its message is omitted: it quotes the line, which may contain a password. */
function placeOf({ linePos }: YAMLParseError): string {
  return linePos === undefined ? '' : ` (line ${linePos[0].line}, column ${linePos[0].col})`
}
