import { expect } from 'chai'
import type { Problem } from '../config-error.ts'
import { parseDocument } from '../parse-document.ts'
import { exchangePolicy } from './token-exchange.ts'

describe('exchangePolicy', () => {
  const usual = { name: 'p', clients: ['ci'], user: 'robot' }
  const account = { ...usual, source: 'ServiceAccount', subjects: ['system:serviceaccount:a:b'] }
  const oidc = { ...usual, source: 'OIDC', issuer: 'https://ci.example.org', claims: { repository: 'a/b' } }
  const user = { name: 'p', clients: ['ci'], source: 'User' }
  const cases: readonly (readonly [object, readonly Problem[]])[] = [
    [account, []],
    [oidc, []],
    [user, []],
    [{ ...user, scope: 'read', audiences: ['x'], maxSeconds: 60 }, []],
    [{ ...account, clients: [] }, [{ path: 'clients', message: 'is required' }]],
    [{ ...account, subjects: [] }, [{ path: 'subjects', message: 'is required' }]],
    [{ ...account, claims: { a: 'b' } }, [{ path: 'claims', message: 'is only for the source OIDC' }]],
    [{ ...account, issuer: 'https://x' }, [{ path: 'issuer', message: 'is only for the source OIDC' }]],
    [{ ...account, user: undefined }, [{ path: 'user', message: 'is required' }]],
    [{ ...oidc, claims: {} }, [{ path: 'subjects', message: 'or claims is required' }]],
    [{ ...oidc, issuer: undefined }, [{ path: 'issuer', message: 'is required' }]],
    [{ ...user, user: 'alice' }, [{ path: 'user', message: 'is not for the source User' }]],
    [{ ...user, subjectAudience: 'x' }, [{ path: 'subjectAudience', message: 'is not for the source User' }]],
    [{ ...user, scope: 'write' }, [{ path: 'scope', message: 'must be read or empty, not "write"' }]],
    [
      { ...account, subjectAudience: '' },
      [{ path: 'subjectAudience', message: 'must be a text that is not empty, not ""' }],
    ],
    [{ ...user, audiences: ['x', ''] }, [{ path: 'audiences[1]', message: 'must not be empty' }]],
    [{ ...user, clients: [''] }, [{ path: 'clients[0]', message: 'must not be empty' }]],
    [{ ...account, subjects: [''] }, [{ path: 'subjects[0]', message: 'must not be empty' }]],
    [{ ...account, user: '' }, [{ path: 'user', message: 'must be the name of a User, not ""' }]],
    [{ ...oidc, issuer: 'https://ci.example.org:x' }, [{ path: 'issuer', message: 'must be an https URL' }]],
    ...['http://ci.example.org', 'ci', 'https://u:p@ci.example.org', ' https://ci.example.org'].map(
      issuer =>
        [
          { ...oidc, issuer },
          [
            {
              path: 'issuer',
              message: `must be an https URL without user, query and fragment, not ${JSON.stringify(issuer)}`,
            },
          ],
        ] as const,
    ),
    ...['', ' repository', 'repository\n'].map(
      name =>
        [
          { ...oidc, claims: { [name]: 'a/b' } },
          [{ path: 'claims', message: `invalid claim name ${JSON.stringify(name)}` }],
        ] as const,
    ),
    [{ ...oidc, claims: { repository: 5 } }, [{ path: 'claims.repository', message: 'must be a string' }]],
    [
      { ...user, maxSeconds: 86_401 },
      [{ path: 'maxSeconds', message: 'must be a whole number from 60 to 86400, not 86401' }],
    ],
    [{ ...user, source: 'LDAP' }, [{ path: 'source', message: 'must be one of ServiceAccount, OIDC, User' }]],
  ]
  for (const [input, expected] of cases) {
    it(`reports ${expected.length} problems of ${JSON.stringify(input)}`, () => {
      const problems: Problem[] = []
      parseDocument(exchangePolicy, input, problems)
      expect(problems).to.deep.equal(expected)
    })
  }
})
