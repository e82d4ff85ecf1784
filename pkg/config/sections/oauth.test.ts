import { expect } from 'chai'
import type { Problem } from '../config-error.ts'
import { parseDocument } from '../parse-document.ts'
import { clientFields } from './client.ts'
import { oauth } from './oauth.ts'
import { exchangePolicy } from './token-exchange.ts'

function problemsOf(input: unknown): readonly Problem[] {
  const problems: Problem[] = []
  parseDocument(oauth, input, problems, 'oauth')
  return problems
}

describe('oauth', () => {
  const client = { name: 'console', secret: 's' }
  const policy = {
    ...{ name: 'p', clients: ['ci'], user: 'robot', source: 'OIDC' },
    ...{ issuer: 'https://ci.example.org', claims: { repository: 'a/b' } },
  }
  const wrongTypes = [5, true, 'x y', [], [5], [null], {}, { keys: 5 }, { keys: [null] }, { a: 1 }]

  for (const [list, entry, members] of [
    ['clients', client, clientFields],
    ['tokenExchange', policy, exchangePolicy.shape],
  ] as const) {
    for (const member of Object.keys(members)) {
      it(`reports ${list}[].${member} with every wrong type`, () => {
        for (const value of wrongTypes) {
          // Some of the values are valid for some members.
          for (const { path } of problemsOf({ [list]: [{ ...entry, [member]: value }] }))
            expect(path, JSON.stringify(value)).to.match(new RegExp(`^oauth\\.${list}\\[0\\]\\.`))
        }
      })
    }

    it(`reports ${list} with an entry of a wrong type`, () => {
      for (const value of [5, 'x', null, [], true]) {
        const [problem, ...more] = problemsOf({ [list]: [entry, value] })
        expect([problem, more]).to.deep.equal([
          { path: `oauth.${list}[1]`, message: 'must be a mapping' },
          [],
        ])
      }
    })

    it(`rejects two ${list} with the same name`, () => {
      expect(problemsOf({ [list]: [entry, entry] })).to.deep.equal([
        { path: `oauth.${list}`, message: `duplicate name "${entry.name}"` },
      ])
    })
  }

  it('lists the allowed values of a client field', () => {
    expect(problemsOf({ clients: [{ ...client, name: 'a b' }] })).to.deep.equal([
      {
        path: 'oauth.clients[0].name',
        message: 'must be up to 253 visible ASCII characters, not "a b"',
      },
    ])
    expect(problemsOf({ clients: [{ ...client, redirectURIs: 'x' }] })).to.deep.equal([
      {
        path: 'oauth.clients[0].redirectURIs[0]',
        message: 'must be an absolute URI without wildcards, not "x"',
      },
    ])
  })

  it('rejects a token exchange policy for the issuer itself', () => {
    const issuer = 'https://kapis.example.org/oauth'
    expect(problemsOf({ issuer, tokenExchange: [policy, { ...policy, name: 'q', issuer }] })).to.deep.equal([
      {
        path: 'oauth.tokenExchange[1].issuer',
        message: 'must not be oauth.issuer: its tokens have the source User',
      },
    ])
  })
})
