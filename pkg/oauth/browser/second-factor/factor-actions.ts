/** The actions of POST /oauth/factors. */
export const factorActions: readonly string[] = [
  ...['set-up-totp', 'remove-totp', 'set-up-passkey', 'rename-passkey', 'remove-passkey', 'renew-codes'],
]
