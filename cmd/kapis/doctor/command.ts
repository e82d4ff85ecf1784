import { parseArgs } from 'node:util'
import { type Command, UsageError } from '../command.ts'
import { clusterOptions, connectCluster } from '../find-kubeconfig.ts'
import { assertOutput } from '../usage-options.ts'
import { admission } from './admission.ts'
import { apiService } from './api-service.ts'
import { certificates } from './certificates.ts'
import { type Check, type Installation, warning } from './check.ts'
import { readConfiguration } from './configuration.ts'
import { customResources } from './custom-resources.ts'
import { environment } from './environment.ts'
import { oauthServer } from './oauth-server.ts'
import { passwords } from './passwords.ts'
import { permissions } from './permissions.ts'
import { isHealthy, type Report, toJson, toText } from './report.ts'
import { requestheaderCa } from './requestheader-ca.ts'
import { service } from './service.ts'

/** The order of diagnosis: earlier findings are often the cause of later ones. */
const checks: readonly Check[] = [
  environment,
  service,
  customResources,
  permissions,
  admission,
  requestheaderCa,
  certificates,
  passwords,
  apiService,
  oauthServer,
]

export const doctor: Command = {
  usage: `[OPTION]…

Checks an installation and suggests fixes; it changes nothing. Exit code 0: no errors; 1: errors; 2: wrong usage.
Requires permission to read the namespace of Kapis, including its Secrets.

  --kubeconfig FILE      credentials to use (KUBECONFIG, ~/.kube/config, or the service account of the Pod)
  --context NAME         context of the kubeconfig (the current one)
  --namespace NAME, -n   namespace of Kapis (kapis-system)
  --group-domain DOMAIN  domain of its API groups (from its configuration, otherwise kapis.io)
  --service NAME[:PORT]  its Service (from its configuration, otherwise kapis:443)
  --url URL              URL of kapis-apiserver, to bypass kube-apiserver
  --token TOKEN          explain why this access token is rejected; - reads it from KAPIS_TOKEN
  --output FORMAT, -o    text or json
`,
  examples: `
  kapis doctor                                       # with the permissions of kubectl's current context
  kapis doctor --namespace kapis-system -o json
  KAPIS_TOKEN=$TOKEN kapis doctor --token -          # why is this token rejected?
`,
  complete: () => [],
  values: { '--output': () => ['text', 'json'] },
  async run(args, io) {
    const { values } = parseArgs({
      args: [...args],
      options: {
        ...clusterOptions,
        namespace: { type: 'string', short: 'n', default: 'kapis-system' },
        'group-domain': { type: 'string' },
        service: { type: 'string' },
        url: { type: 'string', default: '' },
        token: { type: 'string', default: '' },
        output: { type: 'string', short: 'o', default: 'text' },
      },
    })
    assertOutput(values.output)
    if (values.url !== '' && !/^https:\/\/[^/]+\/?$/.test(values.url))
      throw new UsageError(`invalid --url ${JSON.stringify(values.url)}: expected https://host[:port]`)
    const client = connectCluster(values, io)
    try {
      const { namespace } = values
      const { config, findings } = await readConfiguration(client, namespace)
      const [name, port] = (values.service ?? '').split(':')
      const installation: Installation = {
        client,
        groupDomain: values['group-domain'] ?? config?.groupDomain ?? 'kapis.io',
        namespace,
        service: {
          name: name || config?.service.name || 'kapis',
          port: port === undefined ? (config?.service.port ?? 443) : Number(port),
        },
        config,
        url: values.url.replace(/\/$/, ''),
        // Other users of the machine can see arguments, but not the environment.
        token: values.token === '-' ? (io.env.KAPIS_TOKEN ?? '') : values.token,
        nowMs: Date.now(),
      }
      const reports: Report[] = [{ check: 'configuration', findings }]
      for (const check of checks) reports.push(await examine(check, installation))
      io.out(values.output === 'json' ? toJson(reports) : toText(reports))
      return isHealthy(reports) ? 0 : 1
    } finally {
      client.close()
    }
  },
}

async function examine({ name, examine: look }: Check, installation: Installation): Promise<Report> {
  try {
    return { check: name, findings: await look(installation) }
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    const fix = 'run kapis doctor with credentials that can read it, such as those of a cluster administrator'
    return { check: name, findings: [warning(`the check failed: ${message}`, fix)] }
  }
}
