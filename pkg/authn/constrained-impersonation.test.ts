import { expect } from 'chai'
import { Status } from '../apierrors/status.ts'
import { jane } from '../apirequest/fixtures.ts'
import type { Identity } from '../apirequest/identity/identity.ts'
import { type RequestInfo, toResourceInfo } from '../apirequest/request-info.ts'
import { type ClaimedIdentity, impersonateConstrained, nodeOf } from './constrained-impersonation.ts'

const nodeKey = 'authentication.kubernetes.io/node-name'
const agent: Identity = {
  ...jane,
  username: 'system:serviceaccount:ns:agent',
  extra: { [nodeKey]: ['n1'], a: ['b'] },
}

async function attempt(claim: Partial<ClaimedIdentity>, allowed: readonly string[], caller: Identity = jane) {
  const requests: string[] = []
  const may = (info: RequestInfo, who: Identity) => {
    const { verb, group, resource, subresource, namespace, name } = info
    const what = [verb, group, resource, subresource, namespace, name].filter(Boolean).join(' ')
    requests.push(who.extra === caller.extra ? what : `${what} ${JSON.stringify(who.extra)}`)
    if (!allowed.some(start => what.startsWith(start))) throw new Status(403, 'Forbidden', `not ${what}`)
  }
  const request = toResourceInfo({ verb: 'list', resource: 'pods', namespace: 'ns' })
  const claimed = { username: 'bob', uid: '', groups: [], extra: {}, ...claim }
  try {
    return { requests, groups: await impersonateConstrained({ claimed, caller, request, may }) }
  } catch (error) {
    if (!(error instanceof Status)) throw error
    return { requests, message: error.message }
  }
}

describe('impersonateConstrained', () => {
  const all = ['impersonate']
  const auth = 'authentication.k8s.io'

  it('authorizes the impersonated request, and then each part of the identity', async () => {
    const claim = { uid: 'u', groups: ['a', 'b'], extra: { 'acme.io/x': ['1', '2'] } }
    expect(await attempt(claim, all)).to.deep.equal({
      requests: [
        'impersonate-on:user-info:list pods ns',
        `impersonate:user-info ${auth} users bob`,
        `impersonate:user-info ${auth} uids u`,
        `impersonate:user-info ${auth} groups a`,
        `impersonate:user-info ${auth} groups b`,
        `impersonate:user-info ${auth} userextras acme.io/x 1`,
        `impersonate:user-info ${auth} userextras acme.io/x 2`,
      ],
      groups: ['a', 'b'],
    })
  })

  it('stops at the first denied part', async () => {
    const { requests, message } = await attempt({ groups: ['a'] }, ['impersonate:'])
    expect(requests).to.deep.equal(['impersonate-on:user-info:list pods ns'])
    expect(message).to.equal('not impersonate-on:user-info:list pods ns')
  })

  it('authorizes the request before many groups and extra fields', async () => {
    const many = ['a', 'b', 'c', 'd']
    const claim = { groups: many, extra: { 'acme.io/x': many } }
    const { requests } = await attempt(claim, all)
    expect(requests.slice(2)).to.deep.equal([
      `impersonate:user-info ${auth} groups *`,
      `impersonate:user-info ${auth} userextras * *`,
    ])
    const each = ['impersonate-on', `impersonate:user-info ${auth} users`]
    const refused = await attempt(claim, [...each, `impersonate:user-info ${auth} groups a`])
    expect(refused.requests.at(-1)).to.equal(`impersonate:user-info ${auth} groups b`)
  })

  const never: readonly (readonly [Partial<ClaimedIdentity>, string])[] = [
    [{ groups: ['system:masters'] }, 'impersonating the system:masters group is not allowed'],
    [{ extra: { scopes: ['x'] } }, 'impersonating an invalid key in extra is not allowed'],
    [{ extra: { 'Acme.io/x': ['x'] } }, 'impersonating an invalid key in extra is not allowed'],
    [{ extra: { 'acme.io/': ['x'] } }, 'impersonating an invalid key in extra is not allowed'],
    [{ extra: { 'acme.io/X': ['x'] } }, 'impersonating a non-lowercase key in extra is not allowed'],
    [{ extra: { 'acme.io/x': [''] } }, 'impersonating the empty string value in extra is not allowed'],
  ]
  for (const [claim, why] of never) {
    it(`never allows ${JSON.stringify(claim)}`, async () =>
      expect((await attempt(claim, all)).message).to.contain(why))
  }

  it('supports only the name for service accounts and nodes', async () => {
    for (const username of ['system:serviceaccount:ns:sa', 'system:node:n1']) {
      for (const more of [{ uid: 'u' }, { groups: ['g'] }, { extra: { 'acme.io/x': ['1'] } }])
        expect(await attempt({ username, ...more }, all)).to.deep.equal({ requests: [], groups: undefined })
    }
  })

  it('has a separate mode for service accounts', async () => {
    const { requests } = await attempt({ username: 'system:serviceaccount:ns:sa' }, all)
    expect(requests).to.deep.equal([
      'impersonate-on:serviceaccount:list pods ns',
      `impersonate:serviceaccount ${auth} serviceaccounts ns sa`,
    ])
  })

  it('tries the associated node of a service account first, without its extra fields, and then any node', async () => {
    const keys = JSON.stringify({
      'authentication.kubernetes.io/associated-node-keys': ['a', nodeKey],
    })
    const username = 'system:node:n1'
    const own = await attempt({ username }, all, agent)
    expect(own).to.deep.equal({
      requests: [
        `impersonate-on:associated-node:list pods ns ${keys}`,
        `impersonate:associated-node ${auth} nodes * ${keys}`,
      ],
      groups: ['system:nodes'],
    })
    const any = ['impersonate-on:arbitrary-node', 'impersonate:arbitrary-node']
    const { requests, groups } = await attempt({ username }, any, agent)
    expect(requests.slice(1)).to.deep.equal([
      'impersonate-on:arbitrary-node:list pods ns',
      `impersonate:arbitrary-node ${auth} nodes n1`,
    ])
    expect(groups).to.deep.equal(['system:nodes'])
    // Denied: another node, and a user that is not a service account.
    for (const [name, caller] of [
      ['system:node:n2', agent],
      [username, { ...agent, username: 'jane' }],
    ] as const)
      expect((await attempt({ username: name }, all, caller)).requests[0]).to.match(
        /^impersonate-on:arbitrary/,
      )
  })

  it('recognizes a node by its user name', () => {
    expect(nodeOf('system:node:a.b-c')).to.equal('a.b-c')
    for (const name of ['system:node:', 'system:node:A', 'system:node:a b', 'node:a', 'system:nodes'])
      expect(nodeOf(name), name).to.equal(undefined)
  })

  it('passes on errors other than denials', async () => {
    const may = () => {
      throw new Status(503, 'ServiceUnavailable', 'away')
    }
    const claimed = { username: 'bob', uid: '', groups: [], extra: {} }
    const request = toResourceInfo({ verb: 'list', resource: 'pods' })
    const error = await impersonateConstrained({ claimed, caller: jane, request, may }).catch(found => found)
    expect(error).to.include({ code: 503 })
  })
})
