import { isRecord, type KubeObject } from '../kubeclient/object.ts'
import { parseYaml, YamlError } from '../yaml/read.ts'
import type { Problem } from './problem.ts'

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
