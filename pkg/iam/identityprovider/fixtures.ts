import { type ProviderConfig, readProviderConfig } from './config.ts'

/** Returns the configuration of an OpenID provider with default settings. */
export function oidcConfig(name: string): ProviderConfig {
  const provider = { issuer: 'https://id.test', clientID: 'kapis' }
  const config = readProviderConfig({ name, type: 'OIDCIdentityProvider', provider }, [])
  if (config === undefined) throw new Error('not read')
  return config
}
