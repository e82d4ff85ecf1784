import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import forge from 'node-forge'
import { type HttpResponse, kubeCa, kubectlOutput, type RequestOptions, uniqueName } from './cluster.ts'
import { output, setting } from './run.ts'

/** A client certificate of the cluster and its key, as PEM. */
export type ClientCertificate = { readonly cert: string; readonly key: string }

/** The attributes of a subject in order, such as `['O', 'dev']`. */
export type Subject = readonly (readonly [attribute: 'CN' | 'O', value: string])[]

type CertificateAsk = Omit<RequestOptions, 'headers'> & {
  readonly headers?: Readonly<Record<string, string | string[]>>
}

const utf8: number = 12

/**
 * Creates a client certificate signed by the cluster: a CertificateSigningRequest, approved by the
 * administrator.
 */
export async function signClientCertificate(subject: Subject): Promise<ClientCertificate> {
  const { publicKey, privateKey: key } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const csr = forge.pki.createCertificationRequest()
  csr.publicKey = forge.pki.publicKeyFromPem(publicKey)
  csr.setSubject(subject.map(([shortName, value]) => ({ shortName, value, valueTagClass: utf8 })))
  csr.sign(forge.pki.privateKeyFromPem(key), forge.md.sha256.create())
  const name = uniqueName('csr')
  const object = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(forge.pki.certificationRequestToPem(csr)).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
    },
  }
  await output('kubectl', ['create', '-f', '-'], { stdin: JSON.stringify(object) })
  try {
    await kubectlOutput('certificate', 'approve', name)
    for (let tries = 0; tries < 100; tries++) {
      const signed = await kubectlOutput('get', 'csr', name, '-o', 'jsonpath={.status.certificate}')
      if (signed !== '') return { cert: Buffer.from(signed, 'base64').toString(), key }
      await sleep(100)
    }
    throw new Error(`the certificate ${name} was not signed in time`)
  } finally {
    await kubectlOutput('delete', 'csr', name)
  }
}

/** Returns the certificate of the cluster administrator, who is in the group system:masters. */
export async function administratorCertificate(): Promise<ClientCertificate> {
  const view = ['config', 'view', '--raw', '--minify', '--flatten', '-o']
  const read = async (field: string) =>
    Buffer.from(await kubectlOutput(...view, `jsonpath={.users[0].user.${field}}`), 'base64').toString()
  return { cert: await read('client-certificate-data'), key: await read('client-key-data') }
}

/** Sends one request with a client certificate, to kube-apiserver or to Kapis. */
export async function askWithCertificate(
  server: 'kube-apiserver' | 'kapis',
  pair: ClientCertificate,
  path: string,
  { method = 'GET', headers = {}, body }: CertificateAsk = {},
): Promise<HttpResponse> {
  const isKube = server === 'kube-apiserver'
  const ca = readFileSync(isKube ? await kubeCa() : setting('KAPIS_CA'))
  const url = new URL(path, setting(isKube ? 'KUBE_URL' : 'KAPIS_URL'))
  const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>()
  const req = request(url, { ...pair, ca, method, headers, agent: false, timeout: 20_000 }, async res => {
    try {
      const text = Buffer.concat(await res.toArray()).toString('utf8')
      resolve({ code: res.statusCode ?? 0, headers: res.headers, body: text })
    } catch (error) {
      reject(error)
    }
  })
  req.on('timeout', () => req.destroy(new Error(`no response to ${path}`)))
  req.on('error', reject)
  req.end(body)
  return promise
}
