import { z } from 'zod'
import { type Config, document } from './config.ts'
import { section } from './option.ts'
import { clientMembers } from './sections/client.ts'
import { optionsOf } from './shape.ts'

/**
 * docs/config.md
 *
 * @param defaults the configuration when nothing is given
 */
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

Both programs read one YAML file, named with \`--config\`, then the environment, which wins, then their flags: \`--kubeconfig\`, \`--log-level\` or
\`-v\` with a number as components of Kubernetes take it, and for kapis-apiserver \`--bind-address\` and \`--secure-port\`. \`--help\` tells of them. Everything that is wrong is reported at once, each with its path, and the program does not start (exit code 1; 2 for
a flag that does not exist). Unknown members are mistakes too.

A program goes on reading its file: within ten seconds after it has changed, and on SIGHUP. Members that are \`reloaded\` follow it
without a restart; the others, and what the environment or a flag says, are as they were at the start. The file is taken as a whole or not at
all: when anything in it is wrong the last good one stays, the log has every problem with its path, and the metric
\`kapis_config_last_reload_successful\` is 0. A file that is taken is one line of the log, which names the members that were \`followed\` and
those that \`needRestart\`.

In a cluster, \`kubectl edit\` of the ConfigMap that the Pods mount is followed within a minute or so, once the kubelet has it. The
manifests give each configuration a ConfigMap of its own: applied with another one they roll out new Pods, and every member is new.

| member | default | environment | reloaded | what it is |
|---|---|---|---|---|
${rows.join('\n')}

${clientSection()}
Secrets are kept apart from the rest once they are read, so that a configuration can be printed.
`
}

function clientSection(): string {
  const rows = optionsOf(section(clientMembers)).map(({ path, description, schema }) => {
    const { default: fallback } = z.toJSONSchema(schema, { io: 'input' })
    return `| \`${path}\` | ${fallback === undefined ? '' : `\`${JSON.stringify(fallback)}\``} | ${description} |`
  })
  return `## OAuth clients

An entry of \`oauth.clients\` has these members. The same document, under the key \`configuration.yaml\` of a Secret in the namespace
of Kapis, makes a client without a restart: the type of the Secret is \`config.<group domain>/oauthclient\`, and its label
\`config.<group domain>/type: oauthclient\`. A client of the configuration wins over a Secret's of the same name, and of two Secrets
the older one. A Secret that is not right is named in the log with the member that is wrong; its client does not exist until it is
fixed, and the others go on.

| member | default | what it is |
|---|---|---|
${rows.join('\n')}
`
}

function read(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return value
  if (typeof value !== 'object' || value === null) return undefined
  return read(new Map(Object.entries(value)).get(key), rest)
}
