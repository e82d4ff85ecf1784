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
  try {
    return parseYaml(Buffer.from(encoded, 'base64').toString('utf8'))
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    const place = error.place === '' ? '' : ` at ${error.place}`
    const message =
      error.code === 'BAD_ALIAS'
        ? 'has aliases that cannot be resolved'
        : `is not valid YAML (${error.code}${place})`
    problems.push({ path: documentKey, message })
    return undefined
  }
}
