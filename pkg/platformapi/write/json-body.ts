import type { IncomingMessage } from 'node:http'
import { badRequest } from '../../apierrors/status.ts'
import { mediaTypeOf, readText, unsupportedMediaType } from '../../httpserver/request/body.ts'
import { JsonTooDeep, parseJson } from '../../json/parse.ts'
import { parseExactly } from '../../json/parse-exactly.ts'
import { stringifyExactly } from '../../json/stringify.ts'

const limitBytes = 256 * 1024

/** Parses a JSON body exactly (bigint). @param mediaTypes allowed @throws Status 400, 413, 415 */
export async function readJson(req: IncomingMessage, mediaTypes: readonly string[]): Promise<unknown> {
  if (!mediaTypes.includes(mediaTypeOf(req))) throw unsupportedMediaType(mediaTypes)
  const text = await readText(req, limitBytes)
  try {
    parseJson(text)
    const value = parseExactly(text)
    stringifyExactly(value)
    return value
  } catch (error) {
    if (error instanceof RangeError) throw badRequest('the body has a number that is out of range')
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
  if (others.includes(mediaTypeOf(req))) return { patch, contentType: mediaTypeOf(req) }
  return {
    patch,
    contentType: Array.isArray(patch) || mediaTypeOf(req) === jsonPatch ? jsonPatch : mergePatch,
  }
}
