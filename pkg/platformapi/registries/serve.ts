import type { IncomingMessage } from 'node:http'
import { badRequest, methodNotAllowed, unknownResource } from '../../apierrors/status.ts'
import { parseListQuery } from '../../apirequest/query/list-query.ts'
import type { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import type { RequirePermission } from '../../authz/authorizer.ts'
import { readText } from '../../httpserver/request/body.ts'
import { sendJson } from '../../httpserver/response/respond.ts'
import { addWarning } from '../../httpserver/response/warning.ts'
import type { RegistryClient } from '../../imageregistry/client.ts'
import { type Login, readDockerConfig } from '../../imageregistry/docker-config.ts'
import { parseImageReference } from '../../imageregistry/reference.ts'
import { JsonTooDeep, parseJson } from '../../json/parse.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { isKubeObject, isRecord, type KubeObject, parseObject } from '../../kubeclient/object/object.ts'
import { secretPath } from '../../kubeclient/object/secret.ts'
import { routeOf } from '../../openapi/route.ts'
import { ignoredSelections } from '../../resourcecache/list/supported-query.ts'
import type { registryPaths } from './description.ts'

export type RegistryTools = {
  readonly client: KubeClient
  readonly registry: RegistryClient
  readonly requirePermission: RequirePermission
}

const resources = new Set(['registrysecrets', 'imageconfig', 'repositorytags'])
const maxBodyBytes = 1024 * 1024

export function isForRegistries(resource: string): boolean {
  return resources.has(resource)
}

/**
 * Serves `POST …/namespaces/{ns}/registrysecrets/{secret}/verify`, `GET
 * …/imageconfig?image=&secret=` and `GET …/repositorytags?repository=&secret=`: verifies the logins
 * of a Secret, reads the configuration of an image, lists tags. A Secret is only used for callers
 * who may read it.
 *
 * @throws Status 400, 401 if the registry rejects the login, 403, 404, 405, 503
 */
export async function serveRegistries(tools: RegistryTools, exchange: AuthenticatedExchange): Promise<void> {
  const serve = routeOf(routes, exchange.info.parts)
  if (serve === undefined) throw unknownResource()
  return serve(tools, exchange)
}

type Serve = (tools: RegistryTools, exchange: AuthenticatedExchange) => Promise<void>

const routes: Readonly<Record<keyof typeof registryPaths, Serve>> = {
  '/namespaces/{namespace}/registrysecrets/{secret}/verify': async (tools, { req, res }) => {
    if (req.method !== 'POST') throw methodNotAllowed(['POST'])
    sendJson(res, 200, await verify(tools, req))
  },
  '/namespaces/{namespace}/imageconfig': async (tools, exchange) => {
    requireRead(exchange)
    const image = parseImageReference(required(exchange.query, 'image'), 'image')
    const login = await loginFor(tools, exchange, image.host)
    sendJson(exchange.res, 200, await tools.registry.config(image, login))
  },
  '/namespaces/{namespace}/repositorytags': async (tools, exchange) => {
    requireRead(exchange)
    const { query, res } = exchange
    const { host, repository } = parseImageReference(required(query, 'repository'), 'repository')
    const login = await loginFor(tools, exchange, host)
    const tags = await tools.registry.tags(host, repository, login)
    const parsed = parseListQuery(query)
    const { page, limit, ascending, warnings } = parsed
    for (const warning of [...warnings, ...ignoredSelections(parsed, 'repositorytags')])
      addWarning(res, warning)
    const sorted = tags.toSorted()
    if (!ascending) sorted.reverse()
    const shown = limit < 0 ? sorted : sorted.slice((page - 1) * limit, page * limit)
    sendJson(res, 200, { registry: host, repository, tags: shown, total: tags.length })
  },
}

function requireRead({ req }: AuthenticatedExchange): void {
  if (req.method !== 'GET' && req.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
}

/** Verifies every login in the Secret, and returns the Secret unchanged. */
async function verify({ registry }: RegistryTools, req: IncomingMessage): Promise<unknown> {
  const { sent, secret } = await readSecret(req)
  const logins = readDockerConfig(secret)
  if (logins.size === 0) throw badRequest('the Secret has no login to verify')
  if (logins.has('')) throw badRequest('the Secret has a login without a host')
  for (const [host, login] of logins) await registry.verify(host, login)
  return sent
}

async function readSecret(req: IncomingMessage): Promise<{ sent: unknown; secret: KubeObject }> {
  const text = await readText(req, maxBodyBytes)
  try {
    const body: unknown = parseJson(text)
    // The Secret need not be stored yet: then the body has no resourceVersion, and may omit the name,
    // which the path contains.
    if (isRecord(body) && (body.metadata === undefined || isRecord(body.metadata))) {
      const secret = { ...body, metadata: { name: '', resourceVersion: '', ...body.metadata } }
      if (isKubeObject(secret)) return { sent: body, secret }
    }
  } catch (error) {
    if (error instanceof JsonTooDeep) throw badRequest(error.message)
  }
  throw badRequest('the body must be a Secret as JSON')
}

async function loginFor(
  { client, requirePermission }: RegistryTools,
  { identity, info, query }: AuthenticatedExchange,
  host: string,
): Promise<Login | undefined> {
  const name = query.get('secret') ?? ''
  if (name === '') return undefined
  const { namespace } = info
  await requirePermission(identity, { verb: 'get', group: '', resource: 'secrets', namespace, name })
  const path = secretPath({ namespace, name })
  const login = readDockerConfig(parseObject(await client.call({ path }))).get(host)
  if (login === undefined) throw badRequest(`the Secret ${JSON.stringify(name)} has no login for ${host}`)
  return login
}

function required(query: QueryParameters, name: string): string {
  const value = query.get(name) ?? ''
  if (value === '')
    throw badRequest(name === 'repository' ? 'empty repository name' : `the parameter ${name} is required`)
  return value
}
