import type { User } from './user.ts'

export function memoryUser(name: string, changes: Partial<User> = {}): User {
  return {
    name,
    uid: `uid-${name}`,
    createdAt: '2026-01-01T00:00:00Z',
    resourceVersion: '1',
    generation: 1,
    email: `${name}@kapis.io`,
    displayName: '',
    lang: '',
    groups: ['dev'],
    providerGroups: [],
    state: 'Active',
    stateSinceMs: 0,
    inlineHash: 'right',
    credential: 'c1',
    credentialNamespace: '',
    hasAppliedHash: false,
    mustChangePassword: false,
    isEmailVerified: true,
    ...changes,
  }
}
