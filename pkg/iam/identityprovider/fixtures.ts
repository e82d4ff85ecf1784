import { type ProviderConfig, readProviderConfig } from './config.ts'

/** An OpenID provider in its Secret, with default settings. */
export function oidcConfig(name: string): ProviderConfig {
  const provider = { issuer: 'https://id.test', clientID: 'kapis' }
  const config = readProviderConfig({ name, type: 'OIDCIdentityProvider', provider }, [])
  if (config === undefined) throw new Error('not read')
  return config
}
