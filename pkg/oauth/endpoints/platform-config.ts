import type { RequestHandler } from 'express'
import type { ClientConfig } from '../../config/sections/client.ts'
import type { Provider } from '../../iam/identityprovider/provider-store.ts'
import type { Lifetimes } from '../tokens/lifetimes.ts'

export type PlatformConfigOptions = {
  readonly issuer: string
  readonly clients: () => Iterable<ClientConfig>
  readonly providers: () => Iterable<Provider>
  readonly lifetimes: Lifetimes
}

/** Returns the path from which login pages of the platform read their settings. */
export function platformConfigPath(groupDomain: string): string {
  return `/kapis/config.${groupDomain}/v1alpha2/configs/oauth`
}

const nanoseconds = 1_000_000_000

/**
 * Serves public settings for login pages, in the format of the platform API with durations in
 * nanoseconds. Of an identity provider it contains only what browsers see anyway. KubeSphere 3.4
 * published the whole configuration except for fields with secret-like names.
 */
export function createPlatformConfig(options: PlatformConfigOptions): RequestHandler {
  const { issuer, clients, providers, lifetimes } = options
  return (_req, res) => {
    res.set('cache-control', 'no-cache').json({
      issuer,
      identityProviders: [...providers()].filter(({ config }) => !config.hidden).map(toShownProvider),
      clients: [...clients()].map(({ name, redirectURIs, grantMethod }) => ({
        name,
        redirectURIs,
        grantMethod,
      })),
      accessTokenMaxAge: lifetimes.accessTokenSeconds * nanoseconds,
      accessTokenInactivityTimeout:
        (lifetimes.refreshTokenSeconds - lifetimes.accessTokenSeconds) * nanoseconds,
    })
  }
}

function toShownProvider({ config, client }: Provider): object {
  const { name, displayName, type, mappingMethod, disableLoginConfirmation } = config
  return {
    name,
    title: displayName,
    type,
    mappingMethod,
    disableLoginConfirmation,
    // The path for both kinds: `redirect` opens it in the browser; `password` posts user name and
    // password to it.
    login: { kind: client.kind, path: `/oauth/login/${encodeURIComponent(name)}` },
    provider: {},
  }
}
