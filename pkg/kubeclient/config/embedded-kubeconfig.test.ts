import { expect } from 'chai'
import { createCa, issueCertificate } from '../../certs/issue.ts'
import { readEmbeddedKubeconfig } from './embedded-kubeconfig.ts'

const ca = createCa({ commonName: 'member', validityDays: 1 })
const pair = issueCertificate(ca, { commonName: 'kapis', usages: ['client'], validityDays: 1 })
const base64 = (value: string) => Buffer.from(value).toString('base64')
const certificate = {
  'client-certificate-data': base64(pair.certPem),
  'client-key-data': base64(pair.keyPem),
}

function toKubeconfig(cluster: object, user: object, current = 'c'): string {
  return JSON.stringify({
    'current-context': current,
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
    clusters: [{ name: 'k', cluster: { server: 'https://h:6443/base', ...cluster } }],
    users: [{ name: 'u', user }],
  })
}

describe('readEmbeddedKubeconfig', () => {
  it('reads tokens and client certificates', () => {
    const token = readEmbeddedKubeconfig(
      toKubeconfig(
        {
          'certificate-authority-data': base64(ca.certPem),
          'tls-server-name': 'n',
          'insecure-skip-tls-verify': false,
        },
        { token: 'T' },
      ),
    )
    expect(token.url.href).to.equal('https://h:6443/base')
    expect(token.access).to.deep.equal({
      headers: ['Authorization', 'Bearer T'],
      tls: { ca: ca.certPem, servername: 'n' },
    })
    const certified = readEmbeddedKubeconfig(toKubeconfig({}, certificate))
    expect(certified.access).to.deep.equal({ headers: [], tls: { cert: pair.certPem, key: pair.keyPem } })
  })

  const inCluster =
    'supported: server, certificate-authority-data, tls-server-name, disable-compression, extensions'
  const inUser = 'supported: token, client-certificate-data, client-key-data, extensions'
  const refused: readonly (readonly [what: string, kubeconfig: string, message: string])[] = [
    ['no YAML', '{', 'the kubeconfig is not valid YAML'],
    ['a text', 'secret', 'the kubeconfig has no current context with a cluster and a user'],
    [
      'a missing current context',
      toKubeconfig({}, { token: 'T' }, 'x'),
      'the kubeconfig has no current context with a cluster and a user',
    ],
    ...['certificate-authority', 'proxy-url', 'insecure-skip-tls-verify'].map(
      key =>
        [
          key,
          toKubeconfig({ [key]: key === 'insecure-skip-tls-verify' || '/secret' }, { token: 'T' }),
          `unsupported key "${key}" in the cluster of the kubeconfig; ${inCluster}`,
        ] as const,
    ),
    [
      'a field after the one with the default',
      toKubeconfig({ 'insecure-skip-tls-verify': false, 'proxy-url': '/secret' }, { token: 'T' }),
      `unsupported key "proxy-url" in the cluster of the kubeconfig; ${inCluster}`,
    ],
    ...['exec', 'auth-provider', 'tokenFile', 'client-certificate', 'client-key', 'username', 'as'].map(
      key =>
        [
          key,
          toKubeconfig({}, { token: 'T', [key]: '/secret' }),
          `unsupported key "${key}" in the user of the kubeconfig; ${inUser}`,
        ] as const,
    ),
    ...['http://h', 'https://u:secret@h', 'https://h?x=secret', 'https://h#secret', 'unix:/x', ''].map(
      server =>
        [
          `the server "${server}"`,
          toKubeconfig({ server }, { token: 'T' }),
          'the server of the kubeconfig must be an https URL without user, query and fragment',
        ] as const,
    ),
    ['a token with a line break', toKubeconfig({}, { token: 'a\nb' }), 'the kubeconfig has an invalid token'],
    [
      'a missing credential',
      toKubeconfig({}, {}),
      'the kubeconfig has neither a token nor a client certificate with its key',
    ],
    [
      'a certificate without its key',
      toKubeconfig({}, { 'client-certificate-data': base64(pair.certPem) }),
      'the kubeconfig has neither a token nor a client certificate with its key',
    ],
    [
      'no PEM',
      toKubeconfig({}, { ...certificate, 'client-key-data': base64('secret') }),
      'the kubeconfig has an invalid certificate or key',
    ],
    [
      'the key of another certificate',
      toKubeconfig({}, { ...certificate, 'client-key-data': base64(ca.keyPem) }),
      'the kubeconfig has an invalid certificate or key',
    ],
  ]
  for (const [what, kubeconfig, message] of refused) {
    it(`rejects ${what}`, () => {
      expect(() => readEmbeddedKubeconfig(kubeconfig))
        .to.throw(Error)
        .with.property('message', message)
    })
  }
})
