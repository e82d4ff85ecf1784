import { sign } from 'node:crypto'
import { expect } from 'chai'
import forge from 'node-forge'
import type { PasswordChecker } from '../passwords/password-check.ts'
import { memoryUser } from '../users/fixtures.ts'
import { createFactorService } from './factor-service.ts'
import { memoryFactorStore, totpCode } from './fixtures.ts'
import { maxPasskeys, newChallenge, parsePasskeyName, toRelyingParty } from './passkey.ts'
import {
  type Attestation,
  type CeremonyOptions,
  createAuthenticator,
  packedStatement,
  type ResponseFault,
} from './passkey-fixtures.ts'
import { parseAssertion, parseRegistration } from './passkey-response.ts'
import { usePasskey } from './passkey-use.ts'
import { newTotpSecret } from './totp.ts'

const alice = memoryUser('alice')
const bob = memoryUser('bob')
const source = { address: '192.0.2.1', userAgent: '' }
const origin = 'https://kapis.test'

/** Without a lockout. */
const passwords: Pick<PasswordChecker, 'checkFactor'> = {
  checkFactor: async ({ user }, verify) => ({ outcome: (await verify()) ? 'right' : 'wrong', user }),
}
const hasher = { hash: async (text: string) => text, verify: async (a: string, b?: string) => a === b }

function createService(requiredGroups: readonly string[] = [], issuer = `${origin}/oauth`) {
  const store = memoryFactorStore()
  const party = toRelyingParty(issuer, 'Kapis')
  const options = { store, passwords, hasher, requiredGroups: () => requiredGroups, party }
  return { ...createFactorService(options), store }
}

type Service = ReturnType<typeof createService>
type Authenticator = ReturnType<typeof createAuthenticator>
type Ceremony = { readonly fault?: ResponseFault; readonly user?: typeof alice }

async function optionsOf(options: Promise<object | undefined>): Promise<CeremonyOptions> {
  return JSON.parse(JSON.stringify(await options))
}

async function add(service: Service, key: Authenticator, { fault, user = alice }: Ceremony = {}) {
  const challenge = newChallenge()
  const text = key.create(await optionsOf(service.passkeyCreation(user, challenge)), fault)
  return register(service, text, challenge, user)
}

async function register({ addPasskey }: Service, text: string, challenge: string, user = alice) {
  const response = parseRegistration(text) ?? expect.fail(text)
  return (await addPasskey(user, { response, challenge, name: 'key', mayReplace: true })).outcome
}

async function use(service: Service, key: Authenticator, { fault, user = alice }: Ceremony = {}) {
  const challenge = newChallenge()
  const options = service.passkeyRequest(await service.read(user), challenge)
  return check(service, key.get(await optionsOf(options), fault), challenge, user)
}

async function check({ checkPasskey }: Service, text: string, challenge: string, user = alice) {
  const response = parseAssertion(text) ?? expect.fail(text)
  const { verdict, problem } = await checkPasskey({ user, source }, { response, challenge })
  return verdict.outcome === 'right' ? 'right' : problem
}

describe('passkeys', () => {
  it('are stored without secrets, used with a growing counter, and added with recovery codes', async () => {
    const service = createService()
    const key = createAuthenticator(origin)
    const challenge = newChallenge()
    const options = await optionsOf(service.passkeyCreation(alice, challenge))
    expect(options).to.deep.include({
      challenge,
      rp: { name: 'Kapis', id: 'kapis.test' },
      attestation: 'none',
      excludeCredentials: [],
      timeout: 300_000,
    })
    expect(options.user).to.deep.equal({ id: 'dWlkLWFsaWNl', name: 'alice', displayName: 'alice' })
    expect(await register(service, key.create(options), challenge)).to.equal('stored')
    const { passkeys, recoveryCodes } = await service.read(alice)
    expect(recoveryCodes).to.have.length(10)
    expect(
      passkeys.map(({ id, counter, transports, name }) => [id, counter, transports, name]),
    ).to.deep.equal([[key.id, 1, ['internal'], 'key']])
    expect(await use(service, key)).to.equal('right')
    expect(await use(service, key)).to.equal('right')
    const [used] = (await service.read(alice)).passkeys
    expect(used?.counter).to.equal(3)
    const again = await optionsOf(service.passkeyCreation(alice, newChallenge()))
    expect(again).to.deep.nested.include({ 'excludeCredentials[0].id': key.id })
    expect(await optionsOf(service.passkeyRequest(await service.read(alice), challenge))).to.deep.include({
      rpId: 'kapis.test',
      challenge,
      allowCredentials: [{ id: key.id, transports: ['internal'], type: 'public-key' }],
    })
  })

  it('reject a counter that does not grow, and accept authenticators without a counter', async () => {
    const service = createService()
    const key = createAuthenticator(origin)
    await add(service, key, { fault: { counter: 7 } })
    for (const counter of [7, 6, 0])
      expect(await use(service, key, { fault: { counter } })).to.equal('passkey_counter')
    expect(await use(service, key, { fault: { counter: 8 } })).to.equal('right')
    const synced = createAuthenticator(origin, { counts: false })
    await add(service, synced)
    expect(await use(service, synced)).to.equal('right')
    expect(await use(service, synced)).to.equal('right')
  })

  it('accept each challenge once across all replicas', async () => {
    const service = createService()
    const key = createAuthenticator(origin, { counts: false })
    await add(service, key)
    const challenge = newChallenge()
    const options = await optionsOf(service.passkeyRequest(await service.read(alice), challenge))
    const text = key.get(options)
    const both = await Promise.all([check(service, text, challenge), check(service, text, challenge)])
    expect(both.sort()).to.deep.equal(['passkey_replayed', 'right'])
    expect(await check(service, text, challenge)).to.equal('passkey_replayed')
    // The challenge is stored until its page expires, and then deleted.
    const known = await service.read(alice)
    const [passkey] = known.passkeys
    if (passkey === undefined) return expect.fail()
    const later = (ms: number) => usePasskey(known, { ...passkey, challenge }, Date.now() + ms)
    expect(later(600_000)).to.equal('passkey_replayed')
    expect(later(1_300_000)).to.nested.include({ 'usedChallenges.length': 1 })
    const full = {
      ...known,
      usedChallenges: Array.from({ length: 100 }, () => ({ challenge: 'x', atMs: Date.now() })),
    }
    expect(usePasskey(full, { ...passkey, challenge })).to.equal('too_many_logins')
  })

  it('are added once per challenge: a removed passkey cannot be replayed', async () => {
    const service = createService()
    const [key, other] = [createAuthenticator(origin), createAuthenticator(origin)]
    await add(service, other)
    const challenge = newChallenge()
    const text = key.create(await optionsOf(service.passkeyCreation(alice, challenge)))
    expect(await register(service, text, challenge)).to.equal('stored')
    expect(await register(service, text, challenge)).to.equal('passkey_known')
    expect(await service.removePasskey(alice, key.id)).to.equal('removed')
    expect(await register(service, text, challenge)).to.equal('passkey_replayed')
  })

  for (const [why, fault] of [
    ['from another origin', { origin: 'https://kapis.test.evil.example' }],
    ['from the origin without TLS', { origin: 'http://kapis.test' }],
    ['for another relying party', { rpId: 'evil.example' }],
    ['of another ceremony type', { type: 'webauthn.create' }],
    ['with another challenge', { challenge: newChallenge() }],
    ['without a challenge', { clientData: { challenge: undefined } }],
    ['from a cross-origin frame', { clientData: { crossOrigin: true } }],
    [
      'from a frame, with the topOrigin of newer browsers',
      { clientData: { crossOrigin: true, topOrigin: 'https://evil.example' } },
    ],
    ['without user presence', { flags: 0 }],
    ['of a key that is backed up, but cannot be', { flags: 0x11 }],
    ['with a flag for extensions, but none', { flags: 0x81 }],
    ['with a flag for a new key, but none', { flags: 0x41 }],
    ['with another user handle', { userHandle: Buffer.from('uid-bob').toString('base64url') }],
    ['of an unknown passkey', { id: 'AAAA' }],
  ] as readonly [string, ResponseFault][])
    it(`reject an assertion ${why}`, async () => {
      const service = createService()
      const key = createAuthenticator(origin)
      await add(service, key)
      expect(await use(service, key, { fault })).to.equal('wrong_passkey')
      expect(await use(service, key)).to.equal('right')
    })

  /** A certificate for attestation (section 8.2.1), signed by its own key. */
  function certified(format: string): Attestation {
    const keys = forge.pki.rsa.generateKeyPair(2048)
    const certificate = forge.pki.createCertificate()
    certificate.publicKey = keys.publicKey
    certificate.validity.notAfter = new Date(Date.now() + 3_600_000)
    const subject = { countryName: 'SE', organizationName: 'x', commonName: 'x' }
    const attributes = Object.entries(subject).map(([name, value]) => ({ name, value }))
    const unit = { shortName: 'OU', value: 'Authenticator Attestation' }
    certificate.setSubject([...attributes, unit])
    certificate.setIssuer([...attributes, unit])
    certificate.setExtensions([{ name: 'basicConstraints', cA: false }])
    certificate.sign(keys.privateKey, forge.md.sha256.create())
    const der = Buffer.from(forge.asn1.toDer(forge.pki.certificateToAsn1(certificate)).getBytes(), 'latin1')
    const privateKey = forge.pki.privateKeyToPem(keys.privateKey)
    return { format, statement: signed => packedStatement(-257, sign('sha256', signed, privateKey), der) }
  }

  const bytes = (hex: string): ResponseFault => ({
    attestation: { format: 'none', statement: () => Buffer.from(hex, 'hex') },
  })
  for (const [why, fault] of [
    ['from another origin', { origin: 'https://evil.example' }],
    ['for another relying party', { rpId: 'test' }],
    ['of another ceremony type', { type: 'webauthn.get' }],
    ['with another challenge', { challenge: newChallenge() }],
    ['from a cross-origin frame', { clientData: { crossOrigin: true } }],
    ['without user presence', { flags: 0x40 }],
    ['without a public key', { flags: 0x01 }],
    ['with the algorithm ES256K', { algorithm: '382e' }],
    ['with the algorithm RS1', { algorithm: '39fffe' }],
    ['with the algorithm HS256', { algorithm: '05' }],
    ['with an algorithm that is a text', { algorithm: '6178' }],
    [
      'with a self attestation of another key',
      { attestation: { format: 'packed', statement: () => packedStatement(-7, Buffer.alloc(70)) } },
    ],
    ['with a credential ID that is too long', { id: 'A'.repeat(1_366) }],
  ] as readonly [string, ResponseFault][])
    it(`reject a registration ${why}`, async () => {
      const service = createService()
      expect(await add(service, createAuthenticator(origin), { fault })).to.equal('wrong_passkey')
      expect(service.store.stored.size).to.equal(0)
    })

  // To verify certificates, the library would fetch URLs that they contain.
  it('reject attestations with certificates', async () => {
    const service = createService()
    for (const format of ['packed', 'android-key', 'tpm', 'apple']) {
      const fault = { attestation: certified(format) }
      expect(await add(service, createAuthenticator(origin), { fault }), format).to.equal('wrong_passkey')
    }
  })

  it('reject CBOR that is unlimited, deep or invalid', async () => {
    const service = createService()
    for (const hex of ['9bffffffffffffffff', '5bffffffffffffffff', '81'.repeat(8_000), 'ff', ''])
      expect(await add(service, createAuthenticator(origin), { fault: bytes(hex) })).to.equal('wrong_passkey')
  })

  it('accept self attestations, without certificates', async () => {
    const statement: Attestation['statement'] = (signed, signWith) => packedStatement(-7, signWith(signed))
    const fault = { attestation: { format: 'packed', statement } }
    expect(await add(createService(), createAuthenticator(origin), { fault })).to.equal('stored')
  })

  it('belong to one user, even when another user has registered the same credential ID', async () => {
    const service = createService()
    const [own, foreign] = [createAuthenticator(origin), createAuthenticator(origin)]
    await add(service, own)
    expect(await use(service, foreign)).to.equal('wrong_passkey')
    // Bob registers the credential ID of alice's passkey with another key.
    expect(await add(service, foreign, { user: bob, fault: { id: own.id } })).to.equal('stored')
    expect(await use(service, foreign, { fault: { id: own.id } })).to.equal('wrong_passkey')
    expect(await use(service, own, { user: bob })).to.equal('wrong_passkey')
    expect(await use(service, own)).to.equal('right')
  })

  it('still belong to the user after a restore, which gives users another UID', async () => {
    const service = createService()
    const key = createAuthenticator(origin)
    await add(service, key)
    expect(await use(service, key, { user: memoryUser('alice', { uid: 'restored' }) })).to.equal('right')
  })

  it('are limited in number, named, and removed except for the last factor that the policy requires', async () => {
    const service = createService(['dev'])
    const keys = Array.from({ length: maxPasskeys + 1 }, () => createAuthenticator(origin))
    const [first, ...others] = keys
    if (first === undefined) return expect.fail()
    const outcomes = []
    for (const key of keys) outcomes.push(await add(service, key))
    expect(outcomes.slice(-2)).to.deep.equal(['stored', 'too_many_passkeys'])
    expect(await service.renamePasskey(alice, first.id, 'laptop')).to.equal(true)
    expect(await service.renamePasskey(alice, 'AAAA', 'x')).to.equal(false)
    expect((await service.read(alice)).passkeys[0]?.name).to.equal('laptop')
    for (const { id } of others) await service.removePasskey(alice, id)
    expect(await service.removePasskey(alice, others[0]?.id ?? '')).to.equal('missing')
    expect(await service.removePasskey(alice, first.id)).to.equal('refused')
    const secret = newTotpSecret()
    await service.addTotp(alice, { secret, code: totpCode(secret), mayReplace: true })
    const both = await Promise.all([service.removeTotp(alice), service.removePasskey(alice, first.id)])
    expect(both.sort()).to.deep.equal(['refused', 'removed'])
  })

  it('are disabled for an issuer with an IP address', async () => {
    for (const issuer of ['https://192.0.2.1/oauth', 'https://[::1]:8443/oauth']) {
      const service = createService([], issuer)
      expect(service.hasPasskeys).to.equal(false)
      expect(await service.passkeyCreation(alice, newChallenge())).to.equal(undefined)
    }
    expect(toRelyingParty('https://Kapis.test:8443/oauth', 'Kapis')).to.deep.equal({
      id: 'kapis.test',
      origin: 'https://kapis.test:8443',
      name: 'Kapis',
    })
  })

  for (const text of [
    ...['', 'null', '[]', '{}', '{"id":"AQ"}', '{', '{"id":"AQ","rawId":"AQ","type":"public-key"}'],
    ...['{"id":"AQ","rawId":"AQ","type":"public-key","response":null}', `"${'a'.repeat(20_000)}"`],
    '{"id":"AQ","rawId":"Ag","type":"public-key","response":{"clientDataJSON":"AQ","attestationObject":"AQ","authenticatorData":"AQ","signature":"AQ"}}',
    '{"id":"A=","rawId":"A=","type":"public-key","response":{"clientDataJSON":"AQ","attestationObject":"AQ","authenticatorData":"AQ","signature":"AQ"}}',
    '{"id":"AQ","rawId":"AQ","type":"public-key","response":{"clientDataJSON":{},"attestationObject":[],"authenticatorData":1,"signature":null}}',
  ])
    it(`are not parsed from ${text.slice(0, 120)}`, () => {
      expect([parseRegistration(text), parseAssertion(text)]).to.deep.equal([undefined, undefined])
    })

  it('are not parsed with invalid transports', () => {
    const response = { clientDataJSON: 'AQ', attestationObject: 'AQ' }
    const toText = (transports: unknown) =>
      JSON.stringify({ id: 'AQ', rawId: 'AQ', type: 'public-key', response: { ...response, transports } })
    for (const transports of ['usb', [1], ['<b>'], ['x'.repeat(33)], Array.from({ length: 11 }, () => 'usb')])
      expect(parseRegistration(toText(transports))).to.equal(undefined)
    expect(parseRegistration(toText(['usb', 'a-later-one']))?.response.transports).to.have.length(2)
  })

  for (const [text, name] of [
    ['  My key  ', 'My key'],
    ['Schlüssel 👩‍💻', 'Schlüssel 👩‍💻'],
    ['x'.repeat(64), 'x'.repeat(64)],
    ...['', '   ', 'x'.repeat(65), 'a\u0000b', 'a\nb', 'a\u202eb'].map(text => [text, undefined] as const),
  ] as const)
    it(`get the name ${JSON.stringify(name)} from ${JSON.stringify(text)}`, () => {
      expect(parsePasskeyName(text)).to.equal(name)
    })
})
