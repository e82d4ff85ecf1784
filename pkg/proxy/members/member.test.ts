import { expect } from 'chai'
import { createCa } from '../../certs/issue.ts'
import { readMember } from './member.ts'

const caPair = createCa({ commonName: 'member', validityDays: 1 })
const other = createCa({ commonName: 'kapis', validityDays: 1 })
const base64 = (value: string) => Buffer.from(value).toString('base64')

const kubeconfig = JSON.stringify({
  'current-context': 'c',
  contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
  clusters: [
    {
      name: 'k',
      cluster: {
        server: 'https://member:6443',
        'certificate-authority-data': base64(caPair.certPem),
        'tls-server-name': 'n',
      },
    },
  ],
  users: [{ name: 'u', user: { token: 'T' } }],
})
/** Returns the kubeconfig with one more key in its cluster or user. */
function withKey(part: 'cluster' | 'user', key: string, value: unknown): string {
  const more = JSON.stringify({ [key]: value }).slice(1, -1)
  return kubeconfig
    .replace(`"${part}":{"server"`, `"${part}":{${more},"server"`)
    .replace(`"${part}":{"token"`, `"${part}":{${more},"token"`)
}
const supported = {
  cluster: 'server, certificate-authority-data, tls-server-name, disable-compression, extensions',
  user: 'token, client-certificate-data, client-key-data, extensions',
}
const metadata = { name: 'm', uid: 'u', resourceVersion: '1', creationTimestamp: '' }

function read(connection: object | undefined, data?: Readonly<Record<string, string>>) {
  const secret = data && {
    metadata,
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
  }
  const member = readMember({ metadata, spec: { connection } }, secret)
  if ('reason' in member) return member
  const { name, kube, kapis } = member
  const show = ({ url, access }: typeof kube) => ({ url: url.href, access: access() })
  return { name, kube: show(kube), kapis: 'problem' in kapis ? kapis.problem : show(kapis) }
}

describe('readMember', () => {
  const headers = ['Authorization', 'Bearer T']
  const kube = {
    url: 'https://member:6443/',
    access: { headers, tls: { ca: caPair.certPem, servername: 'n' } },
  }
  const none = 'it has no kubesphereAPIEndpoint'
  const endpoint = 'https://member/base'
  const at = (ca: string) => ({ url: endpoint, access: { headers, tls: { ca } } })
  const valid: readonly (readonly [what: string, read: unknown, kapis: unknown])[] = [
    ['a Secret', read(undefined, { kubeconfig }), none],
    ['a kubeconfig in the Cluster', read({ kubeconfig: base64(kubeconfig) }), none],
    ['a Secret before a kubeconfig in the Cluster', read({ kubeconfig: base64('{}') }, { kubeconfig }), none],
    [
      'the address of kube-apiserver from the Cluster',
      read({ type: 'direct', kubernetesAPIEndpoint: 'https://member:6443' }, { kubeconfig }),
      none,
    ],
    [
      'the address of the member’s Kapis from the Cluster with the kubeconfig',
      read({ kubeconfig: base64(kubeconfig), kubesphereAPIEndpoint: endpoint }),
      at(caPair.certPem),
    ],
    [
      'the address and the CA of the member’s Kapis from the Secret',
      read(
        { kubesphereAPIEndpoint: endpoint },
        { kubeconfig, kubesphereAPIEndpoint: `${endpoint}\n`, 'ca.crt': other.certPem },
      ),
      at(other.certPem),
    ],
    [
      'no address outside of the Secret for the credential of a Secret',
      read({ kubesphereAPIEndpoint: endpoint }, { kubeconfig }),
      'spec.connection.kubesphereAPIEndpoint is not the kubesphereAPIEndpoint of the Secret',
    ],
    [
      'no invalid authority',
      read({}, { kubeconfig, kubesphereAPIEndpoint: endpoint, 'ca.crt': 'x' }),
      'the ca.crt of its Secret is not a PEM certificate',
    ],
    [
      'no address without TLS',
      read({ kubeconfig: base64(kubeconfig), kubesphereAPIEndpoint: 'http://member' }),
      'its kubesphereAPIEndpoint must be an https URL without user, query and fragment',
    ],
  ]
  for (const [what, member, kapis] of valid)
    it(`reads ${what}`, () => expect(member).to.deep.equal({ name: 'm', kube, kapis }))

  const missing =
    'missing kubeconfig: expected the key kubeconfig in the Secret m, or spec.connection.kubeconfig'
  const invalid: readonly (readonly [what: string, read: unknown, reason: string, message: string])[] = [
    [
      'a tunnel',
      read({ type: 'proxy' }, { kubeconfig }),
      'UnsupportedConnection',
      'spec.connection.type "proxy" (a tunnel from an agent) is not supported; supported: direct',
    ],
    ['nothing', read(undefined), 'NoKubeconfig', missing],
    ['another key', read(undefined, { config: kubeconfig }), 'NoKubeconfig', missing],
    [
      'another address than that of the kubeconfig’s credential',
      read({ kubernetesAPIEndpoint: 'https://elsewhere' }, { kubeconfig }),
      'InvalidConnection',
      'spec.connection.kubernetesAPIEndpoint is not the server of the kubeconfig',
    ],
    [
      'a kubeconfig with an authority that is not a certificate',
      read(undefined, { kubeconfig: kubeconfig.replace(base64(caPair.certPem), base64('x')) }),
      'InvalidConnection',
      'the kubeconfig has an invalid certificate or key',
    ],
    ...(
      [
        ['exec', { command: '/bin/sh' }, 'user'],
        ['auth-provider', { name: 'gcp' }, 'user'],
        ['tokenFile', '/secret', 'user'],
        ['client-certificate', '/secret', 'user'],
        ['client-key', '/secret', 'user'],
        ['certificate-authority', '/secret', 'cluster'],
        ['insecure-skip-tls-verify', true, 'cluster'],
      ] as const
    ).map(
      ([key, value, part]) =>
        [
          `a kubeconfig with ${key}`,
          read(undefined, { kubeconfig: withKey(part, key, value) }),
          'InvalidConnection',
          `unsupported key "${key}" in the ${part} of the kubeconfig; supported: ${supported[part]}`,
        ] as const,
    ),
  ]
  for (const [what, member, reason, message] of invalid) {
    const code = reason === 'UnsupportedConnection' ? 501 : 503
    it(`returns no connection for ${what}`, () => expect(member).to.deep.equal({ reason, message, code }))
  }
})
