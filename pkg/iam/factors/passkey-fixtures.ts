import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** The WebAuthn options that a page passes to the browser. */
export type CeremonyOptions = {
  readonly challenge: string
  readonly rp?: { readonly id: string }
  readonly rpId?: string
  readonly user?: { readonly id: string }
}

/** Faults of an authenticator, or of an attacker's program. */
export type ResponseFault = {
  readonly origin?: string
  readonly rpId?: string
  readonly type?: string
  readonly challenge?: string
  readonly counter?: number
  readonly flags?: number
  readonly id?: string
  readonly userHandle?: string
  readonly clientData?: Readonly<Record<string, unknown>>
  readonly attestation?: Attestation
  /** The algorithm of a new key, in CBOR and hexadecimal digits; by default -7. */
  readonly algorithm?: string
}

export type Attestation = {
  readonly format: string
  /**
   * The attestation statement in CBOR.
   *
   * @param signed the data to sign
   * @param sign signs with the new key
   */
  readonly statement: (signed: Buffer, sign: (data: Buffer) => Buffer) => Buffer
}

const none: Attestation = { format: 'none', statement: () => Buffer.from([0xa0]) }
const present = 0x01
const verified = 0x04
const attested = 0x40

/**
 * An authenticator with one key on the curve P-256, and the browser around it, by Web
 * Authentication sections 5.8.1, 6.1 and 6.5: implemented separately, so that the tests do not
 * verify the library by itself.
 */
export function createAuthenticator(origin: string, { counts = true } = {}) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(32)
  let counter = 0
  let userHandle = ''

  const clientData = (type: string, { challenge }: CeremonyOptions, fault: ResponseFault) =>
    Buffer.from(
      JSON.stringify({
        type: fault.type ?? type,
        challenge: fault.challenge ?? challenge,
        origin: fault.origin ?? origin,
        crossOrigin: false,
        ...fault.clientData,
      }),
    )

  function authenticatorData(rpId: string, flags: number, more: Buffer, fault: ResponseFault): Buffer {
    if (counts) counter++
    const count = Buffer.alloc(4)
    count.writeUInt32BE(fault.counter ?? counter)
    const hash = createHash('sha256')
      .update(fault.rpId ?? rpId)
      .digest()
    return Buffer.concat([hash, Buffer.from([fault.flags ?? flags]), count, more])
  }

  function coseKey({ algorithm = '26' }: ResponseFault): Buffer {
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    // {1: 2, 3: algorithm, -1: 1, -2: x, -3: y}
    const head = Buffer.from(`a5010203${algorithm}2001`, 'hex')
    const coordinate = (label: number, value: string) =>
      Buffer.concat([Buffer.from([label, 0x58, 32]), Buffer.from(value, 'base64url')])
    return Buffer.concat([head, coordinate(0x21, x), coordinate(0x22, y)])
  }

  const signWithKey = (data: Buffer) => sign('sha256', data, privateKey)

  const toJson = (idText: string, response: object) =>
    JSON.stringify({ id: idText, rawId: idText, type: 'public-key', clientExtensionResults: {}, response })

  return {
    id: id.toString('base64url'),
    /** Like navigator.credentials.create. */
    create(options: CeremonyOptions, fault: ResponseFault = {}): string {
      userHandle = options.user?.id ?? ''
      const idBytes = fault.id === undefined ? id : Buffer.from(fault.id, 'base64url')
      const length = Buffer.alloc(2)
      length.writeUInt16BE(idBytes.length)
      const credential = Buffer.concat([Buffer.alloc(16), length, idBytes, coseKey(fault)])
      const flags = present | verified | attested
      const authData = authenticatorData(options.rp?.id ?? '', flags, credential, fault)
      const data = clientData('webauthn.create', options, fault)
      const { format, statement } = fault.attestation ?? none
      const attestationObject = Buffer.concat([
        Buffer.from([0xa3]),
        cborText('fmt'),
        cborText(format),
        cborText('attStmt'),
        statement(toSigned(authData, data), signWithKey),
        cborText('authData'),
        cborBytes(authData),
      ])
      return toJson(idBytes.toString('base64url'), {
        clientDataJSON: data.toString('base64url'),
        attestationObject: attestationObject.toString('base64url'),
        transports: ['internal'],
      })
    },
    /** Like navigator.credentials.get. */
    get(options: CeremonyOptions, fault: ResponseFault = {}): string {
      const data = clientData('webauthn.get', options, fault)
      const authData = authenticatorData(options.rpId ?? '', present, Buffer.alloc(0), fault)
      return toJson(fault.id ?? id.toString('base64url'), {
        clientDataJSON: data.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: signWithKey(toSigned(authData, data)).toString('base64url'),
        userHandle: fault.userHandle ?? userHandle,
      })
    },
  }
}

function toSigned(authData: Buffer, clientData: Buffer): Buffer {
  return Buffer.concat([authData, createHash('sha256').update(clientData).digest()])
}

/** Creates a statement in the format `packed`, with the algorithm -7 or -257 (COSE). */
export function packedStatement(algorithm: -7 | -257, signature: Buffer, certificate?: Buffer): Buffer {
  const alg = Buffer.from(algorithm === -7 ? '26' : '390100', 'hex')
  const parts = [cborText('alg'), alg, cborText('sig'), cborBytes(signature)]
  if (certificate === undefined) return Buffer.concat([Buffer.from([0xa2]), ...parts])
  return Buffer.concat([
    Buffer.from([0xa3]),
    ...parts,
    cborText('x5c'),
    Buffer.from([0x81]),
    cborBytes(certificate),
  ])
}

function cborBytes(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x59, bytes.length >> 8, bytes.length & 0xff]), bytes])
}

/** Encodes a text of fewer than 24 bytes. */
export function cborText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)])
}
