import { anonymous, type Identity, unauthenticatedGroup } from './identity.ts'

/**
 * Returns why a text cannot be a name in an identity, or undefined if it can. HTTP strips spaces
 * and tabs from both ends of a header value (RFC 9110 section 5.5) and may replace control
 * characters and invalid Unicode. The receiver would then act for another user than the authorized
 * one.
 */
export function identityTextProblem(text: string): string | undefined {
  return text === '' ? 'must not be empty' : contentProblem(text)
}

/** Returns why headers cannot carry an identity unchanged; undefined if they can. */
export function identityProblem(identity: Identity): string | undefined {
  const { username, uid, groups, extra } = identity
  if (username === anonymous.username && !groups.includes(unauthenticatedGroup))
    return `user name ${JSON.stringify(username)} is for requests without a credential`
  const problems = function* () {
    yield problemOfPart('user name', username, identityTextProblem(username))
    if (uid !== '') yield problemOfPart('uid', uid, contentProblem(uid))
    for (const group of groups) yield problemOfPart('group', group, identityTextProblem(group))
    for (const [key, values] of Object.entries(extra)) {
      yield problemOfPart('extra key', key, keyProblem(key))
      for (const value of values)
        yield problemOfPart(`value of extra key ${key}`, value, contentProblem(value))
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

/**
 * Returns why a text cannot be a key of `extra`. All characters are allowed: those that a header
 * name cannot contain are percent-encoded.
 */
function keyProblem(key: string): string | undefined {
  if (key === '') return 'must not be empty'
  return key.isWellFormed() ? undefined : 'must be valid Unicode'
}

function problemOfPart(part: string, text: string, problem: string | undefined): string | undefined {
  return problem && `${part} ${JSON.stringify(text)} ${problem}`
}
