import type { SessionStore } from '../../iam/sessions/session-store.ts'
import { createInternalJwts } from '../../jwt/internal-jwt.ts'
import { createTokenIssuer } from '../../jwt/issue.ts'
import { SecretKeySource } from '../../jwt/key-source.ts'
import { createLogoutTokenSigner } from '../../jwt/logout-token.ts'
import { publishAhead } from '../../jwt/rotation.ts'
import { createTokenVerifier } from '../../jwt/verify.ts'
import type { Dependencies } from './dependencies.ts'

// kube-apiserver fetches the keys again for an unknown key ID only if the cached ones expire within
// 30 seconds, so this makes it fetch new keys immediately.
const maxKeysAgeSeconds = 30

/** The signing keys, and what signs and verifies with them. */
export function createSigningKeys(
  { config, logger, client }: Dependencies,
  sessions: Pick<SessionStore, 'isReady' | 'hasTokenOf' | 'hasIdTokenOf'>,
) {
  const { issuer, audience, clockSkewSeconds, refreshTokenSeconds, keyRotationSeconds } = config.oauth
  const publishAheadSeconds = publishAhead(keyRotationSeconds)
  const keys: SecretKeySource = new SecretKeySource({
    client,
    namespace: config.kubernetes.namespace,
    groupDomain: config.groupDomain,
    logger,
    rotateAfterSeconds: keyRotationSeconds,
    tokenSeconds: refreshTokenSeconds + clockSkewSeconds,
    // Before the first list, it is unknown which tokens are in use.
    isNeeded: (from, until) => !sessions.isReady || sessions.hasTokenOf(from, until),
    isRemembered: (from, until) => !sessions.isReady || sessions.hasIdTokenOf(from, until),
    onAsked: () =>
      void keys.ensure().catch(err => logger.warn({ err }, 'failed to rotate the signing keys, retrying')),
  })
  return {
    keys,
    publishAheadSeconds,
    // A client that caches the keys for this long still knows a new key before it signs.
    maxAgeSeconds: Math.min(maxKeysAgeSeconds, publishAheadSeconds),
    verifier: createTokenVerifier({ issuer, audience, clockSkewSeconds, keys }),
    issuer: createTokenIssuer({ issuer, audience, keys }),
    signLogoutToken: createLogoutTokenSigner({ issuer, keys }),
    internalJwts: createInternalJwts({ issuer, keys }),
  }
}
