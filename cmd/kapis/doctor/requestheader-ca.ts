import { parseAuthenticationConfig } from '../../../pkg/authn/authentication-config.ts'
import { fieldsOf } from '../../../pkg/kubeclient/object/object.ts'
import { type Check, error, type Finding, read } from './check.ts'

const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'

/**
 * Checks the configuration that kube-apiserver publishes for extension API servers: without it,
 * aggregated requests cannot be authenticated.
 */
export const requestheaderCa: Check = {
  name: 'requestheader-ca',
  async examine({ client, nowMs }) {
    const found = await read(client, path)
    if (found === undefined) {
      const fix =
        'run kube-apiserver with --requestheader-client-ca-file; it creates the ConfigMap when it starts'
      return [error('the ConfigMap kube-system/extension-apiserver-authentication is missing', fix)]
    }
    const config = parseAuthenticationConfig(fieldsOf(found.data))
    if (config.proxyAuthorities.length === 0) {
      const fix = 'run kube-apiserver with --requestheader-client-ca-file and --proxy-client-cert-file'
      return [error('kube-apiserver has no front-proxy CA: requests through it are anonymous', fix)]
    }
    const findings: Finding[] = []
    for (const { subject, validToDate } of [...config.proxyAuthorities, ...config.clientAuthorities]) {
      if (validToDate.getTime() >= nowMs) continue
      findings.push(
        error(
          `the CA ${subject} expired on ${validToDate.toISOString()}`,
          'renew the certificates of the control plane',
        ),
      )
    }
    if (config.usernameHeaders.length === 0) {
      findings.push(
        error(
          'kube-apiserver has no user name header configured',
          'run it with --requestheader-username-headers=X-Remote-User',
        ),
      )
    }
    return findings
  },
}
