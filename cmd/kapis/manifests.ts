import type { Command } from './command.ts'
import { buildManifests } from './manifests/build.ts'
import { overlays, parseManifestSettings } from './manifests/settings.ts'

export const manifests: Command = {
  usage: `[OPTION]… | kubectl apply -f -

Prints everything that is to be installed. Without options it is what manifests/overlays/default holds.

  --overlay NAME         ${overlays.join(', ')} (default: default)
  --group-domain DOMAIN  domain of the API groups (kapis.io)
  --namespace NAME, -n   where it runs (kapis-system)
  --image IMAGE          name[:tag][@sha256:digest]
  --replicas N           Pods of the Deployment

KUBECTL names the kubectl to build with (default: kubectl), TMPDIR a folder for its files (default: /tmp).
`,
  examples: `
  kapis manifests | kubectl apply -f -
  kapis manifests --overlay ha --image registry.example.org/kapis:0.1.0 --replicas 3
`,
  complete: () => [],
  values: { '--overlay': () => overlays },
  async run(args, io) {
    io.out(await buildManifests(parseManifestSettings(args), io.env.KUBECTL || 'kubectl'))
    return 0
  },
}
