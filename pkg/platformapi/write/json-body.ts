import type { IncomingMessage } from 'node:http'
import { badRequest, Status, tooLarge } from '../../apierrors/status.ts'
import { JsonTooDeep, parseJson } from '../../json/parse.ts'

const limitBytes = 256 * 1024

/**
 * Parses the JSON body of a request.
 *
 * @param mediaTypes allowed values of Content-Type
 * @throws Status 400, 413, 415
 */
export async function readJson(req: IncomingMessage, mediaTypes: readonly string[]): Promise<unknown> {
  if (!mediaTypes.includes(typeOf(req))) {
    const message = `the body must be ${mediaTypes.join(' or ')}`
    throw new Status(415, 'UnsupportedMediaType', message, { headers: { accept: mediaTypes.join(', ') } })
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of req) {
    size += chunk.length
    if (size > limitBytes) throw tooLarge(limitBytes)
    chunks.push(chunk)
  }
  try {
    return parseJson(Buffer.concat(chunks).toString('utf8'))
  } catch (error) {
    // The error of the parser would quote the body, which may contain a password.
    throw badRequest(error instanceof JsonTooDeep ? error.message : 'the body is not valid JSON')
  }
}

const jsonPatch = 'application/json-patch+json'
const mergePatch = 'application/merge-patch+json'
export const patchTypes = [mergePatch, jsonPatch, 'application/json']

/**
 * Parses a JSON Merge Patch (RFC 7396) or a JSON Patch (RFC 6902) of an object. Clients of
 * ks-apiserver send either with any of the media types, so an array is always a JSON Patch.
 *
 * @param others media types of other patches, which are returned unchanged
 * @returns the patch, and the Content-Type with which to send it
 * @throws Status 400, 413, 415
 */
export async function readPatch(
  req: IncomingMessage,
  others: readonly string[] = [],
): Promise<{ readonly patch: unknown; readonly contentType: string }> {
  const patch = await readJson(req, [...patchTypes, ...others])
  if (others.includes(typeOf(req))) return { patch, contentType: typeOf(req) }
  return { patch, contentType: Array.isArray(patch) || typeOf(req) === jsonPatch ? jsonPatch : mergePatch }
}

/** Returns the media type of a body in lower case without parameters; '' without one. */
export function typeOf(req: IncomingMessage): string {
  const [type = ''] = (req.headers['content-type'] ?? '').split(';')
  return type.trim().toLowerCase()
}
