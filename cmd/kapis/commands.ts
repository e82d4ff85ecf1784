import type { Command } from './command.ts'

export type Entry = { readonly summary: string; readonly load: () => Promise<Command> }

/** The subcommands, as `kapis help` lists them. Loaded when called: a probe must not wait for libraries it does not use. */
export const commands: Readonly<Record<string, Entry>> = {
  doctor: {
    summary: 'look an installation over: what is wrong, and how to mend it',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  manifests: {
    summary: 'print what is to be installed, for any group domain, namespace and image',
    load: async () => (await import('./manifests.ts')).manifests,
  },
  probe: {
    summary: 'ask a listener whether it is alive; for the kubelet',
    load: async () => (await import('./probe.ts')).probe,
  },
}
