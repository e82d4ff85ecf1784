import type { Command } from './command.ts'

export type Entry = { readonly summary: string; readonly load: () => Promise<Command> }

/** The subcommands, as `kapis help` lists them. Loaded when called: a probe must not wait for libraries it does not use. */
export const commands: Readonly<Record<string, Entry>> = {
  doctor: {
    summary: 'look an installation over: what is wrong, and how to mend it',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  'get-token': {
    summary: 'print the token of the login for kubectl, refreshed when it must be',
    load: async () => (await import('./get-token.ts')).getToken,
  },
  login: {
    summary: 'log in by browser, device code or password, and set up kubectl',
    load: async () => (await import('./login.ts')).login,
  },
  logout: {
    summary: 'end the login',
    load: async () => (await import('./logout.ts')).logout,
  },
  manifests: {
    summary: 'print what is to be installed, for any group domain, namespace and image',
    load: async () => (await import('./manifests.ts')).manifests,
  },
  migrate: {
    summary: 'move the configuration and the users of KubeSphere over',
    load: async () => (await import('./migrate.ts')).migrate,
  },
  probe: {
    summary: 'ask a listener whether it is alive; for the kubelet',
    load: async () => (await import('./probe.ts')).probe,
  },
  token: {
    summary: 'personal access tokens: create, list, delete',
    load: async () => (await import('./token.ts')).token,
  },
  user: {
    summary: 'users: create, list, get, disable, enable, unlock, set-password, delete',
    load: async () => (await import('./user.ts')).user,
  },
  whoami: {
    summary: 'say who is logged in',
    load: async () => (await import('./whoami.ts')).whoami,
  },
}
