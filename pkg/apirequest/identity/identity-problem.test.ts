import { expect } from 'chai'
import type { Identity } from './identity.ts'
import { identityProblem, identityTextProblem } from './identity-problem.ts'

const jane: Identity = { username: 'jane', uid: '', groups: [], extra: {} }

describe('identityTextProblem', () => {
  const good = [
    'dev',
    'Domain Admins',
    'system:masters',
    'Jörg',
    '開発',
    'a\u00a0b',
    '\u00a0a',
    'x'.repeat(10_000),
  ]
  for (const text of good) {
    it(`accepts ${JSON.stringify(text.slice(0, 40))}`, () =>
      expect(identityTextProblem(text)).to.equal(undefined))
  }

  const bad: readonly (readonly [text: string, problem: string])[] = [
    ['', 'must not be empty'],
    [' dev', 'must not begin or end with a space or a tab'],
    ['dev ', 'must not begin or end with a space or a tab'],
    ['\tdev', 'must not begin or end with a space or a tab'],
    [' ', 'must not begin or end with a space or a tab'],
    ['a\tb', 'must not contain control characters'],
    ['a\r\nb', 'must not contain control characters'],
    ['a\0', 'must not contain control characters'],
    ['a\u007f', 'must not contain control characters'],
    ['a\u0085b', 'must not contain control characters'],
    ['a\ud800b', 'must be valid Unicode'],
  ]
  for (const [text, problem] of bad) {
    it(`rejects ${JSON.stringify(text)}`, () => expect(identityTextProblem(text)).to.equal(problem))
  }
})

describe('identityProblem', () => {
  const cases: readonly (readonly [what: string, identity: Identity, problem: string | undefined])[] = [
    [
      'accepts an identity with all parts',
      { ...jane, uid: 'u-1', groups: ['dev'], extra: { 'acme.com/scopes': ['x', ''] } },
      undefined,
    ],
    [
      'names an invalid user',
      { ...jane, username: 'jane ' },
      'user name "jane " must not begin or end with a space or a tab',
    ],
    [
      'names an invalid uid',
      { ...jane, uid: '\tu' },
      'uid "\\tu" must not begin or end with a space or a tab',
    ],
    [
      'names an invalid group',
      { ...jane, groups: ['dev', ' system:masters'] },
      'group " system:masters" must not begin or end with a space or a tab',
    ],
    ['rejects an empty group', { ...jane, groups: [''] }, 'group "" must not be empty'],
    [
      'names an invalid extra value',
      { ...jane, extra: { scopes: ['a\0'] } },
      'value of extra key scopes "a\\u0000" must not contain control characters',
    ],
    ['rejects an empty extra key', { ...jane, extra: { '': ['x'] } }, 'extra key "" must not be empty'],
    [
      'accepts an extra key that must be encoded',
      { ...jane, extra: { 'canonicalArn%41 b/ö\n': ['x'] } },
      undefined,
    ],
    [
      'rejects the anonymous user with a credential',
      { ...jane, username: 'system:anonymous', groups: ['dev'] },
      'user name "system:anonymous" is for requests without a credential',
    ],
    [
      'accepts the anonymous user of kube-apiserver',
      { ...jane, username: 'system:anonymous', groups: ['system:unauthenticated'] },
      undefined,
    ],
  ]
  for (const [what, identity, problem] of cases) {
    it(what, () => expect(identityProblem(identity)).to.equal(problem))
  }
})
