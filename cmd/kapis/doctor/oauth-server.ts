import { fieldsOf, textOf } from '../../../pkg/kubeclient/object/object.ts'
import { requestApiserver } from './apiserver-request.ts'
import { type Check, error, type Finding, type Installation, openPort, read, warning } from './check.ts'

const discovery = '/oauth/.well-known/openid-configuration'

/** Checks that kapis-oauth responds, with the issuer of the configuration. */
export const oauthServer: Check = {
  name: 'oauth-server',
  examine: async installation => [
    ...(await responseProblems(installation)),
    ...(await tokenProblems(installation)),
  ],
}

async function responseProblems(installation: Installation): Promise<readonly Finding[]> {
  const { client, namespace, config, url } = installation
  if (url === '') {
    const service = await read(
      client,
      `/api/v1/namespaces/${namespace}/services/${installation.service.name}`,
    )
    // The proxy of kube-apiserver does not connect to a Service with an external name.
    if (service === undefined || fieldsOf(service.spec).type === 'ExternalName') return []
  }
  const { code, body } = await requestApiserver(installation, discovery)
  // A Service without endpoints is already reported by another check.
  if (code === 503 && /no endpoints available/.test(body)) return []
  if (code === 0) {
    const fix =
      url === ''
        ? openPort(installation)
        : `check whether it is running (kubectl -n ${namespace} get pods), and whether a firewall blocks ${url}`
    return [error(`kapis-apiserver is not responding: ${body.slice(0, 200)}`, fix)]
  }
  if (code !== 200) {
    const fix = `kubectl -n ${namespace} logs deployment/kapis -c oauth; existing logins still work`
    return [error(`kapis-oauth is not responding: ${code} ${body.slice(0, 200)}`, fix)]
  }
  const issuer = textOf(fieldsOf(JSON.parse(body)).issuer)
  if (config === undefined || issuer === config.oauth.issuer) return []
  const fix = `restart the Pods that still have the old configuration: kubectl -n ${namespace} rollout restart deployment kapis`
  return [error(`tokens are issued by ${issuer}, but the configured issuer is ${config.oauth.issuer}`, fix)]
}

/** Explains by a TokenReview why kube-apiserver rejects a token: its configuration is unknown. */
async function tokenProblems({ client, token, config }: Installation): Promise<readonly Finding[]> {
  if (token === '') return []
  const claims = readClaims(token)
  if (claims === undefined) return [error('--token is not a JSON Web Token', 'log in again')]
  if (config !== undefined && claims.iss !== config.oauth.issuer) {
    const fix = 'log in again: a changed issuer ends every login'
    return [
      error(
        `the token was issued by ${textOf(claims.iss)}, but the configured issuer is ${config.oauth.issuer}`,
        fix,
      ),
    ]
  }
  const review = await client.call({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } },
  })
  const { authenticated, error: why } = fieldsOf(fieldsOf(review).status)
  if (authenticated === true) return []
  const fix = `check the --authentication-config file of kube-apiserver: jwt[].issuer.url must be exactly ${textOf(claims.iss)}, audiences must contain ${JSON.stringify(claims.aud)}, and certificateAuthority must be the CA of kapis-apiserver; kube-apiserver fetches the keys about ten seconds after its start`
  return [
    warning(
      `kube-apiserver rejects the token (Kapis may accept it): ${textOf(why) || 'no authenticator knows its issuer'}`,
      fix,
    ),
  ]
}

function readClaims(token: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return fieldsOf(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')))
  } catch {
    return undefined
  }
}
