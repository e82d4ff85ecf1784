import { anonymous, type Identity, unauthenticatedGroup } from './identity.ts'

/**
 * Why a text cannot be a name in an identity; undefined when it can. Readers of header fields take SP and HTAB off both ends
 * (RFC 9110 section 5.5), and write control characters and what is not Unicode as something else: the receiver would then act
 * for someone else than the one who was judged.
 */
export function identityTextProblem(text: string): string | undefined {
  return text === '' ? 'must not be empty' : contentProblem(text)
}

/** Why an identity cannot be sent in header fields byte for byte, with the part that is wrong; undefined when it can. */
export function identityProblem(identity: Identity): string | undefined {
  const { username, uid, groups, extra } = identity
  if (username === anonymous.username && !groups.includes(unauthenticatedGroup))
    return `user name ${JSON.stringify(username)} is for requests without a credential`
  const problems = function* () {
    yield named('user name', username, identityTextProblem(username))
    if (uid !== '') yield named('uid', uid, contentProblem(uid))
    for (const group of groups) yield named('group', group, identityTextProblem(group))
    for (const [key, values] of Object.entries(extra)) {
      yield named('extra key', key, keyProblem(key))
      for (const value of values) yield named(`value of extra key ${key}`, value, contentProblem(value))
    }
  }
  for (const problem of problems()) if (problem !== undefined) return problem
  return undefined
}

function contentProblem(text: string): string | undefined {
  if (!text.isWellFormed()) return 'must be valid Unicode'
  if (/^[ \t]|[ \t]$/.test(text)) return 'must not begin or end with a space or a tab'
  return /\p{Cc}/u.test(text) ? 'must not contain control characters' : undefined
}

/** A key is percent-encoded where a header name would not keep it. */
function keyProblem(key: string): string | undefined {
  if (key === '') return 'must not be empty'
  return key.isWellFormed() ? undefined : 'must be valid Unicode'
}

function named(part: string, text: string, problem: string | undefined): string | undefined {
  return problem && `${part} ${JSON.stringify(text)} ${problem}`
}
