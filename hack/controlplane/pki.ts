import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCa, issueCertificate, type KeyPair } from '../../pkg/certs/issue.ts'

const validityDays = 365

export type Pki = {
  readonly folder: string
  /** Returns the path of a file in the folder, such as `ca.crt`. */
  readonly file: (name: string) => string
  readonly cluster: KeyPair
  readonly kapis: KeyPair
}

/**
 * Creates all certificates of a control plane. The front proxy has a separate CA: with a shared CA,
 * any client certificate could be used as the front proxy, to impersonate anyone.
 */
export function createPki(folder: string): Pki {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = (name: string) => join(folder, name)
  const write = (name: string, { certPem, keyPem }: KeyPair) => {
    writeFileSync(file(`${name}.crt`), certPem, { mode: 0o600 })
    writeFileSync(file(`${name}.key`), keyPem, { mode: 0o600 })
  }
  const ca = (name: string, commonName: string) => {
    const pair = createCa({ commonName, validityDays })
    write(name, pair)
    return pair
  }
  const client = (name: string, signer: KeyPair, commonName: string, organizations: readonly string[] = []) =>
    write(name, issueCertificate(signer, { commonName, organizations, usages: ['client'], validityDays }))

  const cluster = ca('ca', 'kubernetes')
  const frontProxy = ca('front-proxy-ca', 'kubernetes-front-proxy')
  const kapis = ca('kapis-ca', 'kapis')
  write(
    'serving',
    issueCertificate(cluster, {
      commonName: 'kube-apiserver',
      dnsNames: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
      ipAddresses: ['127.0.0.1', '10.96.0.1'],
      usages: ['server'],
      validityDays,
    }),
  )
  client('front-proxy-client', frontProxy, 'front-proxy-client')
  client('admin', cluster, 'kubernetes-admin', ['system:masters'])
  client('controller-manager', cluster, 'system:kube-controller-manager')

  const serviceAccounts = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  writeFileSync(file('service-accounts.pub'), serviceAccounts.publicKey)
  writeFileSync(file('service-accounts.key'), serviceAccounts.privateKey, { mode: 0o600 })
  return { folder, file, cluster, kapis }
}

export function toKubeconfig(
  server: string,
  caFile: string,
  user: { certFile: string; keyFile: string } | { token: string },
): string {
  const credential =
    'token' in user
      ? { token: user.token }
      : { 'client-certificate': user.certFile, 'client-key': user.keyFile }
  // JSON is valid YAML, and always quoted correctly.
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'control-plane', cluster: { server, 'certificate-authority': caFile } }],
    users: [{ name: 'control-plane', user: credential }],
    contexts: [
      {
        name: 'control-plane',
        context: { cluster: 'control-plane', user: 'control-plane', namespace: 'default' },
      },
    ],
    'current-context': 'control-plane',
  }
  return `${JSON.stringify(config, null, 2)}\n`
}
