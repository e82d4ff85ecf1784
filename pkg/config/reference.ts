import { z } from 'zod'
import { type Config, document } from './config.ts'
import { section } from './option.ts'
import { optionsOf } from './option-list.ts'
import { clientFields } from './sections/client.ts'
import { exchangePolicy } from './sections/token-exchange.ts'

/** Renders docs/config.md. @param defaults the default configuration */
export function renderReference(defaults: Config): string {
  const rows = optionsOf(document).map(option => {
    const value = JSON.stringify(read(defaults, option.path.split('.')))
    const cells = [
      `\`${option.path}\``,
      value === undefined ? '' : `\`${value}\``,
      option.env === undefined ? '' : `\`${option.env}\``,
      option.isReloaded ? 'yes' : 'no',
      option.description,
    ]
    return `| ${cells.join(' | ')} |`
  })
  return `# Configuration

<!-- Made by \`make update\` from pkg/config; \`make verify\` checks it. -->

kapis-apiserver and kapis-oauth read one YAML file (\`--config\`). Environment variables take precedence over the file, and flags over both:
\`--kubeconfig\`, \`--log-level\` or \`-v\` with a number as for Kubernetes components, and for kapis-apiserver \`--bind-address\` and
\`--secure-port\`; see \`--help\`. If the configuration is invalid, all errors are reported together, each with its path, and the program
does not start (exit code 1; 2 for an unknown flag). Unknown fields are errors.

The file is reloaded within ten seconds after it changes, and on SIGHUP. Fields with \`yes\` under \`reloaded\` take effect without a restart;
the others, and values from the environment or flags, stay as they were at the start. An invalid file is not used at all: the previous
configuration stays, the log shows every error with its path, and the metric \`kapis_config_last_reload_successful\` is 0. After a reload the
log lists the changed fields that took effect (\`followed\`) and those that need a restart (\`needRestart\`).

In a cluster, a change of the mounted ConfigMap (\`kubectl edit\`) takes effect within about a minute, once the kubelet has updated the file.
The manifests name the ConfigMap after its content, so applying a changed configuration rolls out new Pods with all fields changed.

| field | default | environment | reloaded | description |
|---|---|---|---|---|
${rows.join('\n')}

${clientSection()}
Secrets are separated from the other fields when the file is read, so the configuration can be printed safely.
`
}

function clientSection(): string {
  return `## OAuth clients

An entry of \`oauth.clients\` has these fields. To add a client without a restart, put the same document under the key
\`configuration.yaml\` of a Secret in the namespace of Kapis, with type \`config.<group domain>/oauthclient\` and label
\`config.<group domain>/type: oauthclient\`. If several have the same name, the client of the configuration file takes precedence, then the older
Secret. An invalid Secret is logged with the field that is wrong and ignored until it is fixed; other clients are not affected.

${memberTable(clientFields)}
## Token exchange

An entry of \`oauth.tokenExchange\` has these fields. [Login](login.md#workloads-without-a-stored-secret) has examples.

${memberTable(exchangePolicy.shape)}`
}

function memberTable(members: z.core.$ZodLooseShape): string {
  const rows = optionsOf(section(members)).map(({ path, description, schema }) => {
    const { default: fallback } = z.toJSONSchema(schema, { io: 'input' })
    return `| \`${path}\` | ${fallback === undefined ? '' : `\`${JSON.stringify(fallback)}\``} | ${description} |`
  })
  return `| field | default | description |
|---|---|---|
${rows.join('\n')}
`
}

function read(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return value
  if (typeof value !== 'object' || value === null) return undefined
  return read(new Map(Object.entries(value)).get(key), rest)
}
