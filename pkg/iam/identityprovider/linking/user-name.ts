// RFC 1123 as Kubernetes has it for names of objects; 253 is its limit, 63 what fits everywhere else.
const maxLength = 63

/**
 * A name for a user whom Kapis makes: lower case, accents taken off, and `-` for whatever else Kubernetes does not take
 * (`Zoë_Müller@corp` is `zoe-muller-corp`). Two names can become one; who comes second is not let in by it.
 *
 * @returns undefined when nothing is left of the name
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
