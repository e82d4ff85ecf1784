import { expect } from 'chai'
import type { Pair } from './audit.ts'
import { type Caller, iamGroup, type MarkedObject, resourcesGroup, type Scene } from './model.ts'
import { isOwnError } from './own-rejections.ts'
import { roots } from './paths.ts'
import { createPermitted } from './permitted.ts'
import type { ReceivedResponse, RequestSender } from './request-sender.ts'
import type { GeneratedRequest } from './requests.ts'

/** Functions that send requests to both servers as one caller. */
export type Servers = { readonly kube: RequestSender; readonly kapis: RequestSender }

export type Judge = {
  /**
   * Sends a request to both servers and compares the responses.
   *
   * @throws AssertionError if Kapis exposes or allows more, or responds differently
   */
  readonly judge: (caller: Caller, servers: Servers, request: GeneratedRequest) => Promise<void>
  readonly pairs: readonly Pair[]
  /** How often each API returned an object to a caller with permission. */
  readonly shown: ReadonlyMap<string, number>
}

/** @param admin sends requests to kube-apiserver as cluster administrator */
export function createJudge(
  { objects, names }: Pick<Scene, 'objects' | 'names'>,
  admin: RequestSender,
): Judge {
  const maySee = createPermitted(admin)
  const shown = new Map<string, number>(roots.map(root => [root, 0]))
  const pairs: Pair[] = []

  /**
   * Returns the objects that a response exposes: by their marker, or by a name that is not in the
   * request.
   */
  function objectsIn({ code, text }: ReceivedResponse, request: GeneratedRequest): readonly MarkedObject[] {
    const asked = decodeOften(`${request.target} ${request.headers.join(' ')} ${request.body}`)
    return objects.filter(({ marker, name, resource }) => {
      if (text.includes(marker)) return true
      // Names of other kinds prove nothing: names of namespaces and nodes occur in other objects,
      // and that of the Secret in a pod.
      const isTelling = ['secrets', 'configmaps', 'users'].includes(resource) && name !== names.mine
      return isTelling && isSuccess(code) && text.includes(name) && !asked.includes(name)
    })
  }

  async function expectOnlyPermitted(
    caller: Caller,
    request: GeneratedRequest,
    response: ReceivedResponse,
    what: string,
  ) {
    for (const object of objectsIn(response, request)) {
      const { resource, namespace, name } = object
      expect(await maySee(caller, object), `${what} shows ${resource} ${namespace}/${name}`).to.equal(true)
      const count = shown.get(request.root)
      if (request.method === 'GET' && count !== undefined) shown.set(request.root, count + 1)
    }
  }

  return {
    pairs,
    shown,
    async judge(caller, { kube, kapis }, request) {
      const asCaller = (target: string) => ({
        ...request,
        target,
        headers: [...caller.credential, ...request.headers],
      })
      const response = await kapis.send(asCaller(request.target))
      const { method, headers, body, root } = request
      const what = `${caller.what}: ${method} ${request.target} ${JSON.stringify(headers)} ${body} -> ${toText(response)}`
      await expectOnlyPermitted(caller, request, response, what)
      const target = targetAtKube(request)
      if (target === undefined) return
      let expected = await kube.send(asCaller(target))
      // The request is repeated, since kube-apiserver was overloaded.
      if (isUnclear(expected)) expected = await kube.send(asCaller(target))
      // A narrowed list, which kube-apiserver rejects, is judged by the objects that it contains.
      if (isUnclear(expected) || isTooBusy(response) || response.isNarrowed) return
      const both = `${what}; kube-apiserver -> ${toText(expected)}`
      if (isSuccess(response.code)) expect(isSuccess(expected.code), both).to.equal(true)
      if (!isServedByBoth(root)) return
      const isAccountError = isOwnError(request, response)
      if (!isAccountError) {
        expect(response.code, both).to.equal(expected.code)
        // Reasons in YAML and protobuf are not parsed.
        if (response.reason !== '' && expected.reason !== '')
          expect(response.reason, both).to.equal(expected.reason)
      }
      if (headers.includes('Audit-Id')) return
      const isWrite = !['GET', 'HEAD'].includes(method)
      pairs.push({
        what: both,
        isWrite,
        isOwnError: isAccountError,
        kube: expected.auditId,
        kapis: response.auditId,
      })
    },
  }
}

const toText = ({ code, text }: ReceivedResponse) => `${code} ${code < 400 ? '' : text.slice(0, 400)}`
const isSuccess = (code: number) => code === 101 || (code >= 200 && code < 300)
const isTooBusy = ({ code }: ReceivedResponse) => code === 0 || code === 429
/**
 * Responses that do not depend on permissions: 429, or an upgrade that the aggregator sends over
 * HTTP/1.1.
 */
const isUnclear = (response: ReceivedResponse) =>
  isTooBusy(response) || response.code >= 500 || response.text.includes('over HTTP/1.1')
const isServedByBoth = (root: string) => /^\/apis?(\/|$)/.test(root)

/**
 * Returns the equivalent request to kube-apiserver; undefined if there is none. Reads of the
 * platform API are judged by the objects that they return; a write requires a permission on the
 * same path at kube-apiserver.
 */
function targetAtKube({ method, root, target }: GeneratedRequest): string | undefined {
  if (isServedByBoth(root)) return target
  if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return undefined
  if (root === '/kapi/v1') return target.replace('/kapi/', '/api/')
  const isOwn = root.includes(resourcesGroup) || root.includes(iamGroup)
  return isOwn ? target.replace(/^\/kapis?\//, '/apis/') : target
}

/** Decodes a request until no encoding is left. */
function decodeOften(text: string): string {
  let decoded = text
  for (let i = 0; i < 3; i++) {
    decoded += ` ${decoded.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))}`
  }
  return decoded
}
