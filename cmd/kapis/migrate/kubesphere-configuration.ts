import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { readRegularFile } from '../../../pkg/files/read-regular-file.ts'
import { isRecord } from '../../../pkg/kubeclient/object/object.ts'

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
  const document = parseText(bytes.toString('utf8'), file)
  const { kind, data } = document
  if (kind === undefined) return document
  if (kind !== 'ConfigMap' && kind !== 'Secret')
    throw new Error(
      `${file}: is a ${String(kind)}; expected ${fileName}, or the ConfigMap or Secret that holds it`,
    )
  const text = isRecord(data) ? data[fileName] : undefined
  if (typeof text !== 'string') throw new Error(`${file}: the ${kind} has no ${fileName}`)
  return parseText(kind === 'Secret' ? Buffer.from(text, 'base64').toString('utf8') : text, file)
}

function parseText(text: string, file: string): Fields {
  let document: unknown
  try {
    document = parse(text)
  } catch {
    // The message of the parser is omitted: it quotes the line, which may contain a password.
    throw new Error(`${file}: is not valid YAML`)
  }
  if (!isRecord(document)) throw new Error(`${file}: is not a configuration`)
  return document
}
