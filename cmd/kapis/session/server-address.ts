/** The URL of the platform and its CAs as PEM; '' for the CAs of the system. */
export type Server = { readonly url: string; readonly ca: string }

/** Options of every command that sends requests to the platform. */
export const serverOptions = {
  server: { type: 'string', short: 's' },
  'certificate-authority': { type: 'string' },
  context: { type: 'string' },
} as const

export const serverUsage = `  --server URL, -s       URL of the platform (KAPIS_URL, otherwise that of the login)
  --certificate-authority FILE  CA of its certificate (KAPIS_CA, otherwise that of the login, or the system's)
  --context NAME         use the login of this context; see \`kapis login list\` (the current one)
`
