import { methodNotAllowed, notFound, unknownResource } from '../../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../../apirequest/request-context.ts'
import { send } from '../../../httpserver/response/respond.ts'
import { commandLine } from '../../../shell/command-line.ts'
import { toYaml } from '../../../yaml/write.ts'

export type KubeconfigTools = {
  readonly groupDomain: string
  /** URL at which users reach the platform. */
  readonly url: URL
  /** Returns the CA of the server as PEM; undefined if the CAs of the system are used. */
  readonly caPem: () => string | undefined
  readonly isUser: (name: string) => boolean
}

/**
 * Returns whether a request is for the kubeconfig of the caller. It needs no permission, since the
 * kubeconfig contains no credential.
 */
export function isOwnKubeconfig({ info, identity }: AuthenticatedExchange): boolean {
  return info.resource === 'users' && info.subresource === 'kubeconfig' && info.name === identity.username
}

/**
 * Serves `GET …/users/{user}/kubeconfig`: a kubeconfig with which kubectl reaches kube-apiserver
 * through the platform and logs in with `kapis get-token` (client.authentication.k8s.io/v1). Unlike
 * the kubeconfig of KubeSphere 3.4 it contains no certificate, which would remain valid after a
 * logout or when the user is disabled.
 *
 * @throws Status 404, 405
 */
export function serveKubeconfig(tools: KubeconfigTools, { req, res, info }: AuthenticatedExchange): void {
  if (info.parts.length !== 3 || info.subresource !== 'kubeconfig') throw unknownResource()
  if (req.method !== 'GET' && req.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
  const { name } = info
  if (!tools.isUser(name)) throw notFound({ group: `iam.${tools.groupDomain}`, resource: 'users' }, name)
  const { origin } = tools.url
  const caPem = tools.caPem()
  const context = `${name}@${tools.url.hostname}`
  const document = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: tools.url.hostname,
        cluster: {
          server: origin,
          ...(caPem === undefined
            ? {}
            : { 'certificate-authority-data': Buffer.from(caPem).toString('base64') }),
        },
      },
    ],
    users: [
      {
        name,
        user: {
          exec: {
            apiVersion: 'client.authentication.k8s.io/v1',
            command: 'kapis',
            args: ['get-token', '--server', origin],
            interactiveMode: 'Never',
            provideClusterInfo: false,
            installHint: `this kubeconfig runs kapis; log in with \`${commandLine('kapis', 'login', '--server', origin)}\``,
          },
        },
      },
    ],
    contexts: [{ name: context, context: { cluster: tools.url.hostname, user: name } }],
    'current-context': context,
  }
  send(res, 200, Buffer.from(toYaml(document)), { 'content-type': 'text/yaml; charset=utf-8' })
}
