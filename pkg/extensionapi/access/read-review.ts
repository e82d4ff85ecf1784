import type { IncomingMessage } from 'node:http'
import { badRequest } from '../../apierrors/status.ts'
import { mediaTypeOf, readText, unsupportedMediaType } from '../../httpserver/request/body.ts'
import { JsonTooDeep, parseJson } from '../../json/parse.ts'
import { isRecord } from '../../kubeclient/object/object.ts'
import { parseYaml } from '../../yaml/read.ts'

const limitBytes = 256 * 1024
const mediaTypes = ['application/json', 'application/yaml']

/** Reads the object of a create request, as JSON or YAML. @throws Status 400, 413, 415 */
export async function readReview(
  req: IncomingMessage,
  expected: { readonly apiVersion: string; readonly kind: string },
): Promise<Readonly<Record<string, unknown>>> {
  const mediaType = mediaTypeOf(req) || 'application/json'
  if (!mediaTypes.includes(mediaType)) throw unsupportedMediaType(mediaTypes)
  const value = parse(await readText(req, limitBytes), mediaType)
  if (!isRecord(value)) throw badRequest('the body must be an object')
  for (const name of ['apiVersion', 'kind'] as const)
    if (value[name] !== expected[name])
      throw badRequest(`invalid ${name}: expected ${JSON.stringify(expected[name])}`)
  return value
}

function parse(text: string, mediaType: string): unknown {
  try {
    return mediaType === 'application/json' ? parseJson(text) : parseYaml(text)
  } catch (error) {
    if (error instanceof JsonTooDeep) throw badRequest(error.message)
    throw badRequest(`the body is not valid ${mediaType === 'application/json' ? 'JSON' : 'YAML'}`)
  }
}
