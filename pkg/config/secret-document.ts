import { isUtf8 } from 'node:buffer'
import { isRecord, type KubeObject } from '../kubeclient/object/object.ts'
import { parseYaml, YamlError } from '../yaml/read.ts'
import type { Problem } from './config-error.ts'

export const documentKey = 'configuration.yaml'

/**
 * Parses the YAML document under `configuration.yaml` of a Secret, as for OAuth clients and
 * identity providers. Errors are added to `problems` with a position: messages of the parser quote
 * content, which may be secret.
 */
export function readSecretDocument(secret: KubeObject, problems: Problem[]): unknown {
  const encoded = isRecord(secret.data) ? secret.data[documentKey] : undefined
  if (typeof encoded !== 'string') {
    problems.push({ path: documentKey, message: 'is required' })
    return undefined
  }
  const bytes = Buffer.from(encoded, 'base64')
  if (!isUtf8(bytes)) {
    // Replacing the invalid bytes would change a secret.
    problems.push({ path: documentKey, message: 'is not valid UTF-8' })
    return undefined
  }
  try {
    return parseYaml(bytes.toString('utf8'))
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    problems.push({ path: documentKey, message: error.problem })
    return undefined
  }
}
