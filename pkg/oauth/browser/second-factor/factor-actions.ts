/** What POST /oauth/factors can do. */
export const factorActions: readonly string[] = [
  ...['set-up-totp', 'remove-totp', 'set-up-passkey', 'rename-passkey', 'remove-passkey', 'renew-codes'],
]
