import { parseDocument } from 'yaml'
import { isRecord, type KubeObject } from '../kube/object.ts'
import type { Problem } from './fields.ts'

export const documentKey = 'configuration.yaml'

/**
 * The YAML document that a Secret carries under `configuration.yaml`: OAuth clients and identity providers are kept so.
 * What is wrong with it goes to `problems`, by place and never by content: it holds secrets, and the parser's own
 * messages quote it.
 */
export function readSecretDocument(secret: KubeObject, problems: Problem[]): unknown {
  const encoded = isRecord(secret.data) ? secret.data[documentKey] : undefined
  if (typeof encoded !== 'string') {
    problems.push({ path: documentKey, message: 'is required' })
    return undefined
  }
  const document = parseDocument(Buffer.from(encoded, 'base64').toString('utf8'))
  const [error] = document.errors
  if (error !== undefined) {
    const [start] = error.linePos ?? []
    const place = start === undefined ? '' : ` at line ${start.line}, column ${start.col}`
    problems.push({ path: documentKey, message: `is no YAML document (${error.code}${place})` })
    return undefined
  }
  try {
    return document.toJS()
  } catch {
    // Aliases that go on for ever, or that nothing was named by.
    problems.push({ path: documentKey, message: 'has aliases that cannot be resolved' })
    return undefined
  }
}
