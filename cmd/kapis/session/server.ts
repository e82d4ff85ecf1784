/** Where the platform is, and what vouches for it: the file of an authority, or '' for those of the system. */
export type Server = { readonly url: string; readonly caFile: string }

/** Options that every command that talks to the platform takes. */
export const serverOptions = { server: { type: 'string' }, ca: { type: 'string' } } as const

export const serverUsage = `  --server URL           the platform (KAPIS_URL; otherwise that of the last login)
  --ca FILE              authority of its certificate (KAPIS_CA; otherwise that of the last login, or the system's)
`
