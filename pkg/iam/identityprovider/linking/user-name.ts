// The limit of RFC 1123 labels: object names may be longer, but the name is also a label.
export const maxNameLength = 63

/**
 * Converts a name to a user name: lower case, without accents, with `-` for characters that
 * Kubernetes does not allow (`Zoë_Müller@corp` becomes `zoe-muller-corp`). If two names convert to
 * the same user name, the second account is rejected.
 *
 * @returns undefined if no character is left, or too many
 */
export function toUserName(name: string, prefix = ''): string | undefined {
  const made = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/[-.]*\.[-.]*/g, '.')
    .replace(/^[-.]+|[-.]+$/g, '')
  if (made === '' || prefix.length + made.length > maxNameLength) return undefined
  return `${prefix}${made}`
}
