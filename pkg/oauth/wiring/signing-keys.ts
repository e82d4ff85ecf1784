import type { SessionStore } from '../../iam/sessions/session-store.ts'
import { createInternalJwts } from '../../jwt/internal-jwt.ts'
import { createTokenIssuer } from '../../jwt/issue.ts'
import { SecretKeySource } from '../../jwt/key-source.ts'
import { createLogoutTokenSigner } from '../../jwt/logout-token.ts'
import { publishAhead } from '../../jwt/rotation.ts'
import { createTokenVerifier } from '../../jwt/verify.ts'
import type { Dependencies } from './dependencies.ts'

// kube-apiserver only fetches the keys again for an unknown key ID if its cached keys expire within
// 30 seconds. With this maximum age, it fetches new keys immediately.
const maxKeysAgeSeconds = 30

/** Creates the signing keys, and the services that sign and verify with them. */
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
    // Before sessions are listed, it is unknown which tokens are in use, so all keys are kept.
    isNeeded: (from, until) => !sessions.isReady || sessions.hasTokenOf(from, until),
    isRemembered: (from, until) => !sessions.isReady || sessions.hasIdTokenOf(from, until),
    onAsked: () =>
      void keys.ensure().catch(err => logger.warn({ err }, 'failed to rotate the signing keys, retrying')),
  })
  return {
    keys,
    publishAheadSeconds,
    // With this maximum age, clients fetch a new key before it signs.
    maxAgeSeconds: Math.min(maxKeysAgeSeconds, publishAheadSeconds),
    verifier: createTokenVerifier({ issuer, audience, clockSkewSeconds, keys }),
    issuer: createTokenIssuer({ issuer, audience, keys }),
    signLogoutToken: createLogoutTokenSigner({ issuer, keys }),
    internalJwts: createInternalJwts({ issuer, keys }),
  }
}
