import type { Command } from './command.ts'

export type Entry = {
  readonly summary: string
  readonly load: () => Promise<Command>
  /** Whether the command handles signals (`Io.signal`) itself. Others are terminated. */
  readonly endsItself?: boolean
}

/**
 * The commands in the order of `kapis help`. Each is loaded on demand, so that a probe does not
 * wait for libraries of other commands.
 */
export const commands: Readonly<Record<string, Entry>> = {
  access: {
    summary: 'time-bound access: request, list, approve, deny, revoke',
    load: async () => (await import('./access/command.ts')).access,
    endsItself: true,
  },
  'can-i': {
    summary: 'check whether a request is allowed, and why',
    load: async () => (await import('./access/can-i.ts')).canI,
    endsItself: true,
  },
  completion: {
    summary: 'print the completion script of a shell: bash, zsh or fish',
    load: async () => (await import('./completion/command.ts')).completion,
  },
  doctor: {
    summary: 'check an installation and suggest fixes',
    load: async () => (await import('./doctor/command.ts')).doctor,
  },
  'get-token': {
    summary: 'print the access token of the login for kubectl',
    load: async () => (await import('./get-token.ts')).getToken,
    endsItself: true,
  },
  login: {
    summary: 'log in and set up kubectl; list, use and remove logins',
    load: async () => (await import('./login/command.ts')).login,
    endsItself: true,
  },
  logout: {
    summary: 'end a login',
    load: async () => (await import('./logout.ts')).logout,
    endsItself: true,
  },
  manifests: {
    summary: 'print the installation manifests for a group domain, namespace and image',
    load: async () => (await import('./manifests/command.ts')).manifests,
    endsItself: true,
  },
  migrate: {
    summary: 'migrate the configuration and the users of KubeSphere',
    load: async () => (await import('./migrate/command.ts')).migrate,
  },
  probe: {
    summary: 'check that a Unix socket responds; used by the kubelet',
    load: async () => (await import('./probe.ts')).probe,
  },
  sessions: {
    summary: 'recorded sessions of exec and attach: list, get, play',
    load: async () => (await import('./sessions.ts')).sessions,
    endsItself: true,
  },
  token: {
    summary: 'personal access tokens: create, list, delete',
    load: async () => (await import('./token.ts')).token,
    endsItself: true,
  },
  user: {
    summary: 'users: create, list, get, disable, enable, unlock, set-password, reset-factors, delete',
    load: async () => (await import('./user/command.ts')).user,
    endsItself: true,
  },
  'who-can': {
    summary: 'list who may make a request, and by which binding',
    load: async () => (await import('./access/who-can.ts')).whoCan,
    endsItself: true,
  },
  whoami: {
    summary: 'show who is logged in',
    load: async () => (await import('./whoami.ts')).whoami,
    endsItself: true,
  },
}
