import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { expect } from 'chai'
import { Status } from '../../pkg/apierrors/status.ts'
import { createCa } from '../../pkg/certs/issue.ts'
import type { Problem } from '../../pkg/config/config-error.ts'
import { readProviderConfig } from '../../pkg/iam/identityprovider/config.ts'
import type { PasswordProvider } from '../../pkg/iam/identityprovider/external-identity.ts'
import { createLdapProvider } from '../../pkg/iam/identityprovider/ldap/ldap-provider.ts'
import { rejectionReason } from '../../pkg/iam/identityprovider/linking/login-error.ts'
import { groups, manager, people, person, type Slapd, startSlapd } from '../peers/slapd.ts'

const never = new AbortController().signal

describe('LDAP with slapd', function () {
  this.timeout(60_000)
  let slapd: Slapd
  before(async () => {
    slapd = await startSlapd([
      person('alice', { displayName: 'Alice Ä' }),
      person('bob'),
      person('odd*(\\)name', { displayName: 'odd' }),
      person('twin', { uid: ['twin', 'other-twin'] }),
      [`cn=locked,${people}`, { objectClass: 'inetOrgPerson', cn: 'locked', sn: 'x', uid: 'locked' }],
      [
        `cn=first,${people}`,
        { objectClass: 'inetOrgPerson', cn: 'first', sn: 'x', uid: 'double', userPassword: 'double secret' },
      ],
      [
        `cn=second,${people}`,
        { objectClass: 'inetOrgPerson', cn: 'second', sn: 'x', uid: 'double', userPassword: 'other' },
      ],
      [`cn=ops,${groups}`, { objectClass: 'groupOfNames', cn: 'ops', member: [`uid=alice,${people}`] }],
      [
        `cn=dev,${groups}`,
        { objectClass: 'groupOfNames', cn: 'dev', member: [`uid=alice,${people}`, `uid=bob,${people}`] },
      ],
      [`cn=unix,${groups}`, { objectClass: 'posixGroup', cn: 'unix', gidNumber: '7', memberUid: 'alice' }],
    ])
  })
  after(() => slapd.stop())

  function provider(changes: object = {}): PasswordProvider {
    const problems: Problem[] = []
    const config = readProviderConfig(
      {
        name: 'ldap',
        type: 'LDAPIdentityProvider',
        provider: {
          host: `localhost:${slapd.port}`,
          startTLS: true,
          rootCAData: slapd.caPem,
          managerDN: manager.dn,
          managerPassword: manager.password,
          userSearchBase: people,
          userSearchFilter: '(objectClass=inetOrgPerson)',
          ...changes,
        },
      },
      problems,
    )
    expect(problems).to.deep.equal([])
    if (config?.type !== 'LDAPIdentityProvider') throw new Error('not read')
    return createLdapProvider(config.provider)
  }

  const login = (
    username: string,
    password: string,
    changes: object = {},
    found: (uid: string) => void = () => undefined,
  ) => provider(changes).authenticate({ username, password }, never, found)

  async function failure(work: Promise<unknown>): Promise<Status> {
    try {
      await work
    } catch (error) {
      if (error instanceof Status) return error
      throw error
    }
    throw new Error('it was let in')
  }

  const alice = {
    uid: 'alice',
    username: 'alice',
    email: 'alice@example.com',
    amr: 'pwd',
    displayName: 'Alice Ä',
    groups: undefined,
  }

  it('logs in over StartTLS', async () => {
    expect(await login('alice', 'alice secret')).to.deep.equal(alice)
  })

  it('logs in over LDAPS', async () => {
    const ldaps = { host: `ldaps://localhost:${slapd.securePort}`, startTLS: false }
    expect(await login('alice', 'alice secret', ldaps)).to.deep.equal(alice)
  })

  it('identifies a user by the directory’s spelling, for any typed spelling', async () => {
    expect(await login('ALICE', 'alice secret')).to.deep.equal(alice)
  })

  it('finds an account again without a password, and reports that it was deleted', async () => {
    const { amr, ...known } = alice
    expect(await provider().find?.('alice', never)).to.deep.equal(known)
    expect(await provider().find?.('nonexistent', never)).to.equal(undefined)
  })

  const lacking: readonly [string, object, RegExp][] = [
    [
      'the member attribute of groups',
      { groupMemberAttribute: 'memberUid', groupMemberValueAttribute: 'uidNumber' },
      /the entry "uid=alice,.*" has no uidNumber \(groupMemberValueAttribute\)/,
    ],
    [
      'the name attribute of groups',
      { groupNameAttribute: 'description' },
      /the entry "cn=(dev|ops),.*" has no description \(groupNameAttribute\)/,
    ],
  ]
  for (const [what, changes, why] of lacking) {
    it(`rejects a login if an entry does not have ${what}`, async () => {
      const config = { groupSearchBase: groups, ...changes }
      for (const work of [login('alice', 'alice secret', config), provider(config).find?.('alice', never)]) {
        const refused = await failure(Promise.resolve(work))
        expect(refused).to.include({
          code: 400,
          message: 'the LDAP server did not return the groups of this user',
        })
        expect(rejectionReason(refused)).to.equal('provider_groups_incomplete')
        expect(refused.cause).to.have.nested.property('cause.message').which.matches(why)
      }
    })
  }

  const groupMappings: readonly [string, object, readonly string[]][] = [
    ['by the member attribute of groups', { groupSearchBase: groups }, ['dev', 'ops']],
    ['by a filter', { groupSearchBase: groups, groupSearchFilter: '(cn=o*)' }, ['ops']],
    [
      'by user name',
      { groupSearchBase: groups, groupMemberAttribute: 'memberUid', groupMemberValueAttribute: 'uid' },
      ['unix'],
    ],
    ['by an attribute of the user', { userMemberAttribute: 'memberOf' }, ['a,b', 'night']],
  ]
  for (const [what, changes, names] of groupMappings) {
    it(`maps groups ${what}`, async () => {
      if ('userMemberAttribute' in changes) {
        await slapd.asManager(async client => {
          const member = [`uid=alice,${people}`]
          await client.add(`cn=night,${groups}`, { objectClass: 'groupOfNames', cn: 'night', member })
          await client.add(`cn=a\\2cb,${groups}`, { objectClass: 'groupOfNames', cn: 'a,b', member })
        })
      }
      const { groups: found } = await login('alice', 'alice secret', changes)
      expect([...(found ?? [])].sort()).to.deep.equal(names)
    })
  }

  it('detects a deleted group at the next query', async () => {
    const changes = { groupSearchBase: groups, groupSearchFilter: '(cn=dev)' }
    expect((await provider(changes).find?.('bob', never))?.groups).to.deep.equal(['dev'])
    await slapd.asManager(async client => client.del(`cn=dev,${groups}`))
    expect((await provider(changes).find?.('bob', never))?.groups).to.deep.equal([])
  })

  const refused: readonly [string, string, string, string][] = [
    ['a wrong password', 'alice', 'bob secret', 'wrong_password'],
    ['an empty password, which the directory would accept', 'alice', '', 'wrong_password'],
    ['an unknown user', 'nonexistent', 'alice secret', 'unknown_user'],
    ['an empty name', '', 'alice secret', 'unknown_user'],
    ['a name with a zero byte', 'alice\0', 'alice secret', 'unknown_user'],
    ['a user without password', 'locked', 'x', 'wrong_password'],
    ['a name that matches two entries', 'double', 'double secret', 'ambiguous_user'],
    ['a wildcard', 'ali*', 'alice secret', 'unknown_user'],
    ['everybody', '*', 'alice secret', 'unknown_user'],
    ['a filter', 'nonexistent)(|(uid=alice)', 'alice secret', 'unknown_user'],
    ['an escaped filter', 'alic\\65', 'alice secret', 'unknown_user'],
    ['an attribute injection in a user name', `uid=alice,${people}`, 'alice secret', 'unknown_user'],
    ['the bind user', 'manager', manager.password, 'unknown_user'],
  ]
  for (const [what, username, password, reason] of refused) {
    it(`rejects ${what} with the same error`, async () => {
      const error = await failure(login(username, password))
      expect([error.code, error.reason, error.message]).to.deep.equal([
        400,
        'invalid_grant',
        'incorrect password',
      ])
      expect(rejectionReason(error)).to.equal(reason)
    })
  }

  it('accepts a user whose name contains filter characters', async () => {
    expect(await login('odd*(\\)name', 'odd*(\\)name secret')).to.include({
      uid: 'odd*(\\)name',
      displayName: 'odd',
    })
  })

  it('rejects a user with several values of a unique attribute', async () => {
    const error = await failure(login('other-twin', 'twin secret'))
    expect(error.message).to.equal('the LDAP entry must have exactly one value for uid')
  })

  it('takes the same time for an unknown user as for a wrong password', async () => {
    const time = async (username: string) => {
      const startedAt = performance.now()
      await failure(login(username, 'wrong'))
      return performance.now() - startedAt
    }
    expect(await time('nonexistent')).to.be.at.least(295)
    expect(await time('alice')).to.be.at.least(295)
  })

  const other = createCa({ commonName: 'another authority', validityDays: 1 }).certPem
  const broken: readonly [string, () => object, RegExp][] = [
    ['of another CA, StartTLS', () => ({ rootCAData: other }), /unable to verify|self.signed/],
    [
      'of another CA, LDAPS',
      () => ({ rootCAData: other, host: `localhost:${slapd.securePort}`, startTLS: false, ldaps: true }),
      /unable to verify|self.signed/,
    ],
    ['of an unknown CA', () => ({ rootCAData: '' }), /unable to verify|self.signed/],
    ['for another name', () => ({ host: `127.0.0.1:${slapd.port}` }), /does not match|altnames/],
  ]
  for (const [what, changes, message] of broken) {
    it(`sends no credential to a server with a certificate ${what}`, async () => {
      const error = await failure(login('alice', 'alice secret', changes()))
      expect([error.code, error.message]).to.deep.equal([
        503,
        'the identity provider returned an invalid response',
      ])
      expect(rejectionReason(error)).to.equal('provider_failed')
      expect(String((error.cause as Error).cause)).to.match(message)
    })
    it(`accepts a server with a certificate ${what}, if configured`, async () => {
      expect(await login('alice', 'alice secret', { ...changes(), insecureSkipVerify: true })).to.deep.equal(
        alice,
      )
    })
  }

  const unusable: readonly [string, () => object][] = [
    ['a wrong password of the bind user', () => ({ managerPassword: 'wrong' })],
    ['a missing permission to search', () => ({ managerDN: '', managerPassword: '' })],
    ['a missing search base', () => ({ userSearchBase: 'ou=nowhere,dc=example,dc=com' })],
    ['no listener', () => ({ host: 'localhost:1' })],
  ]
  for (const [what, changes] of unusable) {
    it(`reports ${what} as a server error, not as a wrong password`, async () => {
      const error = await failure(login('alice', 'alice secret', changes()))
      expect([error.code, rejectionReason(error)]).to.deep.equal([503, 'provider_failed'])
    })
  }

  describe('with a faulty server', () => {
    async function serve(behave: (socket: Socket) => void) {
      const sockets = new Set<Socket>()
      const server = createServer(socket => {
        sockets.add(socket.on('error', () => undefined))
        behave(socket)
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      return {
        host: `localhost:${port}`,
        close() {
          for (const socket of sockets) socket.destroy()
          server.close()
        },
      }
    }
    // An ExtendedResponse to message 1 with the result success.
    const success = Buffer.from('300c02010178070a010004000400', 'hex')
    const bindResponse = Buffer.from('300c02010261070a010004000400', 'hex')

    const servers: readonly [string, (socket: Socket) => void, RegExp][] = [
      ['that does not respond', () => undefined, /timeout/],
      ['that closes the connection', socket => socket.destroy(), /closed|ECONNRESET/],
      [
        'that uses another protocol',
        socket => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
        /invalid StartTLS response/,
      ],
      [
        'that rejects StartTLS',
        socket => socket.on('data', () => socket.write(Buffer.from('300c02010178070a013404000400', 'hex'))),
        /result code 52/,
      ],
      [
        'with an attacker who injects a plain-text response',
        socket => socket.on('data', () => socket.write(Buffer.concat([success, bindResponse]))),
        /sent data after its StartTLS response/,
      ],
      [
        'that stops during the handshake',
        socket => socket.on('data', data => data[0] === 0x30 && socket.write(success)),
        /timeout/,
      ],
    ]
    for (const [what, behave, message] of servers) {
      it(`times out at a server ${what}`, async () => {
        const server = await serve(behave)
        try {
          const startedAt = performance.now()
          const error = await failure(login('alice', 'alice secret', { host: server.host, readTimeout: 500 }))
          expect(error.code).to.equal(503)
          expect(String((error.cause as Error).cause)).to.match(message)
          expect(performance.now() - startedAt).to.be.below(5_000)
        } finally {
          server.close()
        }
      })
    }
  })
})
