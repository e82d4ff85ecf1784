import { expect } from 'chai'
import { thrownFields } from '../apierrors/fixtures.ts'
import { readDockerConfig } from './docker-config.ts'

const metadata = { name: 's', uid: '', resourceVersion: '', creationTimestamp: '' }
const type = 'kubernetes.io/dockerconfigjson'
const secretOf = (config: unknown) => ({
  metadata,
  type,
  data: { '.dockerconfigjson': Buffer.from(JSON.stringify(config)).toString('base64') },
})
const auth = Buffer.from('me:pass:word').toString('base64')

describe('readDockerConfig', () => {
  it('supports every format of a login', () => {
    const logins = readDockerConfig(
      secretOf({
        auths: {
          'a.example.com': { username: 'u', password: 'p' },
          'https://b.example.com:5000/v2/': { auth },
          'https://index.docker.io/v1/': { username: 'hub', password: 'p' },
        },
      }),
    )
    expect([...logins]).to.deep.equal([
      ['a.example.com', { username: 'u', password: 'p' }],
      ['b.example.com:5000', { username: 'me', password: 'pass:word' }],
      ['registry-1.docker.io', { username: 'hub', password: 'p' }],
    ])
  })

  it('parses a name of many slashes quickly', () => {
    const startedAt = performance.now()
    const auths = { [`${'/'.repeat(500_000)}\n`]: { auth } }
    expect([...readDockerConfig(secretOf({ auths })).keys()]).to.deep.equal([''])
    expect(performance.now() - startedAt).to.be.below(5_000)
  })

  it('accepts a Secret that is not stored yet', () => {
    const stringData = { '.dockerconfigjson': JSON.stringify({ auths: { 'a.b': { auth } } }) }
    expect([...readDockerConfig({ metadata, type, stringData }).keys()]).to.deep.equal(['a.b'])
  })

  const refused: readonly [string, Parameters<typeof readDockerConfig>[0], string][] = [
    ['another Secret type', { ...secretOf({}), type: 'Opaque' }, `type of the Secret must be ${type}`],
    [
      'a Secret without data',
      { metadata, type },
      'data[".dockerconfigjson"] of the Secret is not valid JSON',
    ],
    [
      'a Secret without auths',
      secretOf({ credsStore: 'x' }),
      'data[".dockerconfigjson"] of the Secret must have a field auths',
    ],
    [
      'a login without a password',
      secretOf({ auths: { 'a.b': { username: 'u' } } }),
      'auths["a.b"] needs username and password, or auth',
    ],
  ]
  for (const [what, secret, message] of refused) {
    it(`rejects ${what}, without quoting its content`, () => {
      expect(thrownFields(() => readDockerConfig(secret))).to.deep.equal({
        code: 400,
        reason: 'BadRequest',
        message,
      })
    })
  }
})
