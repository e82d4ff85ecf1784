import { Buffer } from 'node:buffer'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect } from 'chai'
import fc from 'fast-check'
import { Status } from '../../pkg/apierrors/status.ts'
import { parseJsonPath } from '../../pkg/apirequest/query/json-path.ts'
import { parseListQuery } from '../../pkg/apirequest/query/list-query.ts'
import { QueryParameters } from '../../pkg/apirequest/query/query-parameters.ts'
import { parseWatchQuery } from '../../pkg/apirequest/query/watch-query.ts'
import { parseRequestInfo } from '../../pkg/apirequest/request-info.ts'
import { parseFieldSelector } from '../../pkg/apirequest/selector/field-selector.ts'
import { matchesLabels, parseLabelSelector } from '../../pkg/apirequest/selector/label-selector.ts'
import { parseTarget } from '../../pkg/apirequest/target.ts'
import { readBearer } from '../../pkg/authn/read-bearer.ts'
import { negotiate } from '../../pkg/extensionapi/read/accept.ts'
import { formatContinueToken, parseContinueToken } from '../../pkg/extensionapi/read/continue-token.ts'
import { parseImageReference } from '../../pkg/imageregistry/reference.ts'
import { audience, forge, issuer, memoryKeys } from '../../pkg/jwt/fixtures.ts'
import { createTokenVerifier } from '../../pkg/jwt/verify.ts'
import { parseLogQuery } from '../../pkg/logs/query/log-query.ts'
import { forwardableHeaders } from '../../pkg/proxy/headers.ts'
import { bounds, propertyTimeoutMs } from './fuzz-parameters.ts'

const runs = 500
const methods = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'X')
// Fragments with a meaning, so that random combinations are similar to valid input.
const pieces = (...words: readonly string[]) =>
  fc
    .array(fc.oneof(fc.constantFrom(...words), fc.string({ unit: 'binary', maxLength: 4 })), {
      maxLength: 14,
    })
    .map(parts => parts.join(''))
const segment = fc.constantFrom(
  ...['api', 'apis', 'kapis', 'kapi', 'v1', 'v1alpha3', 'resources.kapis.io', 'namespaces', 'watch', 'proxy'],
  ...[
    'nodes',
    'pods',
    'default',
    'status',
    '',
    '.',
    '..',
    '%2e%2e',
    '%2f',
    '%',
    '%zz',
    '\\',
    'ö',
    'a b',
    '%00',
  ],
)
const target = fc.array(segment, { maxLength: 10 }).map(parts => `/${parts.join('/')}`)

/**
 * Parses invalid input, which must result in a Status for the caller and never in an internal
 * error.
 */
function readOrReject<T>(read: () => T, codes: readonly number[] = [400]): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Status)) throw error
    expect(error.code).to.be.oneOf(codes)
    expect(error.message).to.not.match(/undefined|\[object|at .*\.ts:/)
    return undefined
  }
}

describe('parsers with random input', function () {
  this.timeout(propertyTimeoutMs)

  it('RequestInfo: the authorized attributes are those of the path, and no path has two interpretations', () => {
    fc.assert(
      fc.property(methods, fc.oneof(target, pieces('/', '%', '..', 'api', '?')), (method, url) => {
        const parsed = readOrReject(() => parseTarget(url))
        if (parsed === undefined) return
        const { path } = parsed
        // Below a proxy subresource, any path is valid.
        if (/^\/api\/v1\/.*\/proxy\//.test(path)) return
        expect(path).to.not.match(/\/\/|\\|\/\.{1,2}(\/|$)|\p{Cc}/u)
        // A server that normalizes the path must get the same path.
        expect(decodeURIComponent(new URL(`http://a${parsed.rawPath}`).pathname)).to.equal(path)
        const info = parseRequestInfo(method, path)
        expect(info.path).to.equal(path)
        if (!info.isResource) return
        const known = new Set(path.split('/'))
        for (const part of [
          info.group,
          info.version,
          info.namespace,
          info.resource,
          info.name,
          info.subresource,
        ]) {
          expect(part === '' || known.has(part), `${part} of ${path}`).to.equal(true)
        }
        expect(path.startsWith(`/${info.prefix}/`)).to.equal(true)
      }),
      bounds(runs),
    )
  })

  it('label selectors', () => {
    const text = pieces(
      'a',
      'b/c',
      '=',
      '==',
      '!=',
      '!',
      ' in ',
      ' notin ',
      '(',
      ')',
      ',',
      '>',
      '<',
      '1',
      ' ',
    )
    const labels = fc.dictionary(fc.constantFrom('a', 'b/c', '1'), fc.constantFrom('', 'a', '1', '2'))
    fc.assert(
      fc.property(text, labels, (selector, of) => {
        const parsed = readOrReject(() => parseLabelSelector(selector))
        if (parsed !== undefined) expect(matchesLabels(parsed, of)).to.be.a('boolean')
      }),
      bounds(runs),
    )
  })

  it('field selectors and paths of annotations', () => {
    const text = pieces('metadata.name', '=', '!=', ',', '\\', '.', '[', ']', "'", '"', '*', 'a')
    fc.assert(
      fc.property(text, value => {
        readOrReject(() => parseFieldSelector(value))
        readOrReject(() => parseJsonPath(value, 'sortBy'))
      }),
      bounds(runs),
    )
  })

  it('list and watch queries', () => {
    const name = fc.constantFrom(
      ...[
        'limit',
        'page',
        'sortBy',
        'ascending',
        'name',
        'names',
        'labelSelector',
        'fieldSelector',
        'ownerReference',
      ],
      ...[
        'status',
        'annotation',
        'resourceVersion',
        'timeoutSeconds',
        'watch',
        'allowWatchBookmarks',
        '__proto__',
        '',
      ],
    )
    const value = fc.oneof(pieces('0', '-1', '1e9', 'true', 'name', ',', '=', 'NaN', '٣'), fc.string())
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 6 }), pairs => {
        readOrReject(() => parseListQuery(new QueryParameters(String(new URLSearchParams(pairs)))))
        readOrReject(() => parseWatchQuery(new QueryParameters(String(new URLSearchParams(pairs)))))
      }),
      bounds(runs),
    )
  })

  it('log queries', () => {
    const word = pieces(
      'a',
      '"',
      '*',
      '?',
      '/',
      '(',
      ')',
      ' AND ',
      ' OR ',
      ' NOT ',
      '-',
      ':',
      'level:',
      '\\',
      '[a-z]+',
      '{1,9}',
    )
    const name = fc.constantFrom(
      ...[
        'q',
        'log_query',
        'namespaces',
        'pods',
        'start_time',
        'end_time',
        'interval',
        'size',
        'from',
        'sort',
        'cursor',
      ],
      ...['operation', 'format', 'follow', 'before', 'after'],
    )
    const value = fc.oneof(
      word,
      fc.constantFrom('query', 'histogram', 'export', 'context', '1m', '0', '-1', '99999999999999999999'),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 5 }), pairs => {
        readOrReject(() =>
          parseLogQuery(new QueryParameters(String(new URLSearchParams(pairs))), () => undefined),
        )
      }),
      bounds(runs),
    )
  })

  it('Accept headers and image references', () => {
    const accept = pieces(
      'application/json',
      ';',
      ',',
      'q=0.5',
      'as=Table',
      'g=meta.k8s.io',
      'v=v1',
      '*/*',
      '=',
      '"',
    )
    const image = pieces('docker.io', '/', ':', '@', 'sha256:', 'a', '-', '..', '5000', '%', '[::1]')
    fc.assert(
      fc.property(accept, image, (header, reference) => {
        for (const kind of ['object', 'list', 'watch'] as const)
          readOrReject(() => negotiate(header, kind), [400, 406])
        readOrReject(() => parseImageReference(reference, 'image'))
      }),
      bounds(runs),
    )
  })

  it('continue tokens: issued ones are parsed, and all others rejected', () => {
    const version = fc.nat(2 ** 40)
    fc.assert(
      fc.property(version, fc.string({ unit: 'binary', minLength: 1 }), fc.string(), (at, key, other) => {
        expect(parseContinueToken(formatContinueToken({ version: at, key }))).to.deep.equal({
          version: at,
          key,
        })
        readOrReject(() => parseContinueToken(other), [400, 410])
        readOrReject(() => parseContinueToken(Buffer.from(other).toString('base64url')), [400, 410])
      }),
      bounds(runs),
    )
  })

  it('tokens: no changed token, and no other text, authenticates', async () => {
    const keys = await memoryKeys()
    const verifier = createTokenVerifier({ issuer, audience, clockSkewSeconds: 10, keys })
    const [key] = keys.stored
    if (key === undefined) throw new Error('no key')
    const good = await forge(key)
    expect(await verifier.verifyAccess(good)).to.include({ sub: 'alice' })
    const changed = fc
      .tuple(fc.nat(good.length - 1), fc.string({ unit: 'binary-ascii', maxLength: 2 }))
      .map(([at, text]) => good.slice(0, at) + text + good.slice(at + 1))
    const made = fc
      .tuple(fc.json(), fc.json(), fc.base64String())
      .map(
        ([head, claims, mac]) =>
          `${[head, claims].map(part => Buffer.from(part).toString('base64url')).join('.')}.${mac}`,
      )
    await fc.assert(
      fc.asyncProperty(fc.oneof(changed, made, fc.string()), async token => {
        if (decodesAlike(token, good)) return
        let status: unknown
        await verifier.verifyAccess(token).catch(error => {
          status = error
        })
        expect(status, token).to.be.instanceOf(Status).and.include({ code: 401, message: 'Unauthorized' })
        expect(await verifier.readIdTokenHint(token)).to.equal(undefined)
      }),
      bounds(200),
    )
  })

  it('headers: no identity, address or hop-by-hop header is forwarded', () => {
    const name = fc
      .constantFrom(
        ...[
          'Impersonate-User',
          'X-Remote-User',
          'X-Remote-Extra-a',
          'X-Forwarded-For',
          'Forwarded',
          'Connection',
          'TE',
        ],
        ...[
          'Transfer-Encoding',
          'Upgrade',
          'Authorization',
          'Accept',
          'X-Custom',
          'X-Kapis-A',
          'Content-Length',
        ],
      )
      .chain(word => fc.mixedCase(fc.constant(word)))
    const line = fc.tuple(name, fc.constantFrom('a', 'close', 'X-Custom, Accept', 'authorization', ''))
    const bad =
      /^(impersonate-|x-remote-|x-forwarded-|forwarded$|connection$|te$|transfer-encoding$|upgrade$|x-kapis-)/i
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), lines => {
        const req = receivedWith(lines.flat())
        const forwarded = forwardableHeaders(req, new Set(['cookie']))
        const names = forwarded.filter((_, i) => i % 2 === 0)
        expect(names.filter(each => bad.test(each))).to.deep.equal([])
        // A caller cannot remove its own credential in order to act as another user.
        const had = lines.filter(([each]) => each.toLowerCase() === 'authorization').length
        expect(names.filter(each => each.toLowerCase() === 'authorization').length).to.equal(had)
        readOrReject(() => readBearer(req), [400, 401])
      }),
      bounds(runs),
    )
  })
})

/** Returns whether two tokens decode to the same bytes: base64url has several spellings. */
function decodesAlike(token: string, good: string): boolean {
  const read = (text: string) =>
    text
      .split('.')
      .map(part => Buffer.from(part, 'base64url').toString('hex'))
      .join('.')
  return read(token) === read(good)
}

function receivedWith(rawHeaders: readonly string[]): IncomingMessage {
  const req = new IncomingMessage(new Socket())
  req.rawHeaders = [...rawHeaders]
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase()
    const before = req.headers[name]
    const value = rawHeaders[i + 1] ?? ''
    req.headers[name] = typeof before === 'string' ? `${before}, ${value}` : value
  }
  return req
}
