import { type Method, methods, type Operation, type Paths, type Scheme } from './operation.ts'

/** A document of the OpenAPI index. It contains all paths with a common prefix. */
export type Section = {
  /**
   * Path of the document: `kapis/iam.<group domain>/v1alpha2` is served at
   * `/openapi/v3/kapis/iam.<group domain>/v1alpha2`.
   */
  readonly key: string
  readonly title: string
  readonly description: string
  /** Paths of this section that do not begin with its key. */
  readonly also?: readonly string[]
}

export type DescribedSection = Section & { readonly paths: Paths }

/** Assigns each path to the most specific section. @throws Error for a path without one */
export function divide(sections: readonly Section[], paths: Paths): readonly DescribedSection[] {
  const roots = sections
    .flatMap(section => [`/${section.key}`, ...(section.also ?? [])].map(root => ({ root, section })))
    .toSorted((a, b) => b.root.length - a.root.length)
  const ownerOf = (path: string) => {
    const found = roots.find(({ root }) => path === root || path.startsWith(`${root}/`))
    if (found === undefined)
      throw new Error(
        `${path} is not in any section: add one in pkg/apiserver/wiring/documents/api-description.ts`,
      )
    return found.section
  }
  const bySection = Map.groupBy(Object.entries(paths), ([path]) => ownerOf(path))
  return sections.map(section => ({ ...section, paths: Object.fromEntries(bySection.get(section) ?? []) }))
}

const schemes: Readonly<Record<Exclude<Scheme, 'none'>, object>> = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An access token of /oauth/token, or a token that kube-apiserver accepts: of a service account or an OpenID Connect issuer.',
  },
  clientCertificate: {
    type: 'mutualTLS',
    description: 'A client certificate issued by a client CA of kube-apiserver.',
  },
  password: {
    type: 'http',
    scheme: 'basic',
    description: 'User name and password, for log shippers that do not support tokens.',
  },
  client: {
    type: 'http',
    scheme: 'basic',
    description:
      'The OAuth client: its name and secret (RFC 6749 section 2.3.1); or client_id and client_secret in the form.',
  },
  browser: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-kapis-session',
    description: 'The login session of a browser (cookie).',
  },
}

export function toOpenApi({ title, description, paths }: DescribedSection, version: string): object {
  const used = new Set<Scheme>()
  const shown = Object.entries(paths).map(([path, row]) => {
    const operations = methods.flatMap(method => {
      const operation = row[method]
      if (operation === undefined) return []
      for (const scheme of operation.security) used.add(scheme)
      return [[method, toOperation(method, path, operation)] as const]
    })
    return [path, Object.fromEntries(operations)] as const
  })
  return {
    openapi: '3.1.0',
    info: { title, description, version },
    paths: Object.fromEntries(shown),
    components: {
      securitySchemes: Object.fromEntries(
        Object.entries(schemes).filter(([name]) => [...used].some(scheme => scheme === name)),
      ),
    },
  }
}

function toOperation(method: Method, path: string, operation: Operation): object {
  const { summary, description, parameters = [], body, responses, security } = operation
  return {
    operationId: toOperationId(method, path),
    summary,
    ...(description === undefined ? {} : { description }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body === undefined ? {} : { requestBody: { required: true, ...body } }),
    responses,
    security: security.map(scheme => (scheme === 'none' ? {} : { [scheme]: [] })),
  }
}

/** Converts a method and path to an ID: `get /users/{user}` becomes `getUsersByUser`. */
export function toOperationId(method: Method, path: string): string {
  const words = path
    .replaceAll(/\{(\w+)\}/g, 'by-$1')
    .split(/[^A-Za-z0-9]+/)
    .filter(word => word !== '')
  return method + words.map(word => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}
