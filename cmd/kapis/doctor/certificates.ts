import { X509Certificate } from 'node:crypto'
import { parseBundle } from '../../../pkg/authn/certificate-chain.ts'
import { readPair } from '../../../pkg/certs/tls-secret.ts'
import { apiServiceName, apiServicesPath } from '../../../pkg/extensionapi/registration/api-service.ts'
import { fieldsOf, textOf } from '../../../pkg/kubeclient/object/object.ts'
import { secretsPath } from '../../../pkg/kubeclient/object/secret.ts'
import { type Check, error, type Finding, type Installation, read, warning } from './check.ts'

const soonMs = 14 * 86_400_000

/** Checks the serving certificate: its validity and names, and whether caBundle has its CA. */
export const certificates: Check = {
  name: 'certificates',
  async examine(installation) {
    const { client, namespace, service, nowMs, config } = installation
    // Certificate files cannot be read from this machine; api-service.ts checks whether they work.
    if (config !== undefined && config.tls.certFile !== '') return []
    const pair = await readPair(client, { namespace, name: 'kapis-serving' })
    if (pair === undefined) {
      const fix = `kapis-apiserver creates it when it starts: kubectl -n ${namespace} logs deployment/kapis -c apiserver`
      return [error(`the Secret ${namespace}/kapis-serving is missing`, fix)]
    }
    const renew = `kubectl -n ${namespace} delete secret kapis-serving; kapis-apiserver creates a new one`
    const leaf = new X509Certificate(pair.certPem)
    const name = `${service.name}.${namespace}.svc`
    const findings: Finding[] = []
    const until = leaf.validToDate.getTime()
    if (until < nowMs)
      findings.push(error(`the serving certificate expired on ${leaf.validToDate.toISOString()}`, renew))
    else if (until < nowMs + soonMs)
      findings.push(warning(`the serving certificate expires on ${leaf.validToDate.toISOString()}`, renew))
    if (leaf.validFromDate.getTime() > nowMs)
      findings.push(
        error(
          `the serving certificate is not valid before ${leaf.validFromDate.toISOString()}`,
          'synchronize the clocks: one of them is behind',
        ),
      )
    if (leaf.checkHost(name) === undefined)
      findings.push(
        error(
          `the serving certificate is not valid for ${name}, the name that kube-apiserver verifies`,
          renew,
        ),
      )
    return [...findings, ...(await bundleProblems(installation, leaf))]
  },
}

async function bundleProblems(
  { client, groupDomain, namespace, nowMs }: Installation,
  leaf: X509Certificate,
) {
  const name = apiServiceName(groupDomain)
  const spec = fieldsOf((await read(client, `${apiServicesPath}/${name}`))?.spec)
  const bundle = Buffer.from(textOf(spec.caBundle), 'base64').toString('utf8')
  const cas = parseBundle(bundle)
  const write = `kapis-apiserver writes it while it runs: kubectl -n ${namespace} get pods; ${secretsPath(namespace)}/kapis-ca holds the CA`
  if (cas.length === 0) return [error(`the APIService ${name} has no caBundle`, write)]
  const issuer = cas.find(one => leaf.checkIssued(one) && leaf.verify(one.publicKey))
  if (issuer === undefined)
    return [
      error(`caBundle of the APIService ${name} does not contain the CA of the serving certificate`, write),
    ]
  if (issuer.validToDate.getTime() < nowMs) {
    const fix = `kubectl -n ${namespace} delete secret kapis-ca kapis-serving; kapis-apiserver creates new ones`
    return [error(`the CA of the serving certificate expired on ${issuer.validToDate.toISOString()}`, fix)]
  }
  return []
}
