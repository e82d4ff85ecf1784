import { z } from 'zod'
import { integer, requiredText, section, texts } from '../option.ts'

const policy = section({
  name: requiredText({
    pattern: /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
    is: 'a DNS label',
    description: 'Name of the policy, shown in recordings and in the notice at the start of a session.',
  }),
  namespaces: texts({
    item: z
      .string({ error: 'must be a string' })
      .regex(/^[a-z0-9*-]{1,253}$/, { error: 'must be a name of a namespace, with * for any characters' }),
    description: 'Names of namespaces, with `*` for any characters. Empty for all.',
  }),
  users: texts({ description: 'Names of users whose sessions are recorded.' }),
  groups: texts({
    description: 'Groups whose members are recorded. With neither `users` nor `groups`, everyone is.',
  }),
})

/** Recording of exec and attach sessions. */
export const recordings = section({
  policies: z.array(policy, { error: 'must be a list' }).default([]).meta({
    isReloaded: true,
    description:
      'Which sessions of exec and attach are recorded: a list of `name`, `namespaces`, `users` and `groups`; the first match applies ([Session recordings](session-recordings.md)).',
  }),
  maxMegabytes: integer({
    default: 64,
    min: 1,
    max: 4_096,
    isReloaded: true,
    description: 'Maximum output of a recorded session, in MiB; at this size the session is ended.',
  }),
  retentionDays: integer({
    default: 30,
    min: 1,
    max: 3650,
    description: 'Number of days (UTC) that recordings are kept, including today.',
  }),
  retentionMegabytes: integer({
    default: 1024,
    min: 16,
    max: 1_000_000_000,
    description: 'Maximum size on the disk of the embedded store, in MiB; the oldest are deleted first.',
  }),
})

export type RecordingsConfig = Readonly<z.output<typeof recordings>>
export type RecordingPolicy = RecordingsConfig['policies'][number]
