// RFC 1123 as Kubernetes applies it to object names; its limit is 253, but 63 fits into labels.
const maxLength = 63

/**
 * Converts a name to a user name: lower case, without accents, with `-` for other characters that
 * Kubernetes does not allow (`Zoë_Müller@corp` becomes `zoe-muller-corp`). Two names can result in
 * the same one; the second account is then rejected.
 *
 * @returns undefined if nothing is left
 */
export function toUserName(name: string, prefix = ''): string | undefined {
  const made = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/[-.]*\.[-.]*/g, '.')
    .replace(/^[-.]+|[-.]+$/g, '')
  if (made === '' || prefix.length + made.length > maxLength) return undefined
  return `${prefix}${made}`
}
