import { parseArgs } from 'node:util'
import { UsageError } from '../command.ts'

export const overlays = ['default', 'ha', 'kubesphere', 'monitoring', 'opensearch'] as const

/** The differences of an installation from manifests/. */
export type ManifestSettings = {
  readonly overlay: (typeof overlays)[number]
  readonly groupDomain?: string
  readonly namespace?: string
  /** Format: name[:tag][@digest]. */
  readonly image?: string
  readonly replicas?: number
}

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/
const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const image = /^[a-z0-9][-a-z0-9._/:]*[a-z0-9](:[\w][\w.-]{0,127})?(@sha256:[0-9a-f]{64})?$/

/** Parses the options of the command. @throws UsageError with the option and the allowed values */
export function parseManifestSettings(args: readonly string[]): ManifestSettings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      overlay: { type: 'string', default: 'default' },
      'group-domain': { type: 'string' },
      namespace: { type: 'string', short: 'n' },
      image: { type: 'string' },
      replicas: { type: 'string' },
    },
  })
  const overlay = overlays.find(name => name === values.overlay)
  if (overlay === undefined)
    throw new UsageError(
      `unknown --overlay ${JSON.stringify(values.overlay)}; supported: ${overlays.join(', ')}`,
    )
  check('group-domain', values['group-domain'], subdomain, 'a DNS subdomain such as example.io')
  check('namespace', values.namespace, label, 'a namespace name')
  check('image', values.image, image, 'name[:tag][@sha256:digest]')
  check('replicas', values.replicas, /^[1-9]\d?$/, 'a number from 1 to 99')
  return {
    overlay,
    ...(values['group-domain'] === undefined ? {} : { groupDomain: values['group-domain'] }),
    ...(values.namespace === undefined ? {} : { namespace: values.namespace }),
    ...(values.image === undefined ? {} : { image: values.image }),
    ...(values.replicas === undefined ? {} : { replicas: Number(values.replicas) }),
  }
}

function check(option: string, value: string | undefined, pattern: RegExp, is: string): void {
  if (value !== undefined && !pattern.test(value))
    throw new UsageError(`invalid --${option} ${JSON.stringify(value)}: expected ${is}`)
}
