import { methodNotAllowed } from '../../apierrors/status.ts'
import type { Exchange } from '../../apirequest/request-context.ts'
import { sendJson } from '../../httpserver/response/respond.ts'

export type PublicDocuments = {
  readonly paths: readonly string[]
  readonly handles: (path: string) => boolean
  /** @throws Status 405 */
  readonly handle: (exchange: Exchange) => Promise<void>
}

export type PublicDocumentsOptions = {
  readonly groupDomain: string
  /** Enabled features, with the names that KubeSphere's console uses. */
  readonly features: ReadonlySet<string>
  /** version.Info of Kapis itself. */
  readonly versionInfo: object
  /** Returns version.Info of kube-apiserver; undefined while it is not responding. */
  readonly kubernetesVersion: () => Promise<unknown>
}

/** The features that consoles of KubeSphere 3.4 check. */
const knownFeatures = [
  'alerting',
  'auditing',
  'authentication',
  'authorization',
  'cache',
  'devops',
  'edgeruntime',
  'events',
  'gateway',
  'gpu',
  'kubeedge',
  'kubernetes',
  'logging',
  'metering',
  'monitoring',
  'multicluster',
  'network',
  'network.ippool',
  'network.topology',
  'notification',
  'openpitrix',
  'openpitrix.appstore',
  's3',
  'servicemesh',
  'sonarqube',
  'terminal',
]

/**
 * Serves the public documents for consoles and login pages: `/kapis/version` and
 * `/kapis/config.<group domain>/v1alpha2/configs/…`. Consoles use an older API if gitVersion is
 * below 3.3. It is therefore the version of the API contract; kapisVersion is that of the program.
 */
export function createPublicDocuments(options: PublicDocumentsOptions): PublicDocuments {
  const configs = `/kapis/config.${options.groupDomain}/v1alpha2/configs`
  const documents = new Map<string, () => Promise<unknown> | unknown>([
    ['/kapis/version', () => versionOf(options)],
    [
      `${configs}/configz`,
      () => Object.fromEntries(knownFeatures.map(name => [name, options.features.has(name)])),
    ],
    // Kapis has no setting for GPU kinds: GPUs are extended resources of nodes.
    [`${configs}/gpu/kinds`, () => []],
  ])
  return {
    paths: [...documents.keys()],
    handles: path => documents.has(withoutSlash(path)),
    async handle({ req, res, info }) {
      if (req.method !== 'GET' && req.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
      sendJson(res, 200, await documents.get(withoutSlash(info.path))?.())
    },
  }
}

/** Returns a path without a slash at the end, which clients may send. */
function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path
}

const contract = { gitVersion: 'v3.4.1', gitMajor: '3', gitMinor: '4' }

async function versionOf({ versionInfo, kubernetesVersion }: PublicDocumentsOptions): Promise<object> {
  const { gitVersion, ...rest }: { gitVersion?: string } = versionInfo
  const kubernetes = await kubernetesVersion()
  return {
    ...rest,
    ...contract,
    kapisVersion: gitVersion,
    ...(kubernetes === undefined ? {} : { kubernetes }),
  }
}
