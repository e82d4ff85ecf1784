import type { Command } from '../command.ts'
import { buildManifests } from './build.ts'
import { overlays, parseManifestSettings } from './settings.ts'

export const manifests: Command = {
  usage: `[OPTION]… | kubectl apply -f -

Prints the installation manifests: by default those of manifests/overlays/default.

  --overlay NAME         ${overlays.join(', ')} (default: default)
  --group-domain DOMAIN  domain of the API groups (kapis.io)
  --namespace NAME, -n   namespace of Kapis (kapis-system)
  --image IMAGE          name[:tag][@sha256:digest]
  --replicas N           replicas of the Deployment

Environment: KUBECTL is the kubectl to run (default: kubectl), TMPDIR the folder for temporary files (default: /tmp).
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
