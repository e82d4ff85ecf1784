import { type ProviderConfig, readProviderConfig } from './config.ts'

/** An OpenID provider as its Secret has it, with what is left to defaults. */
export function oidcConfig(name: string): ProviderConfig {
  const provider = { issuer: 'https://id.test', clientID: 'kapis' }
  const config = readProviderConfig({ name, type: 'OIDCIdentityProvider', provider }, [])
  if (config === undefined) throw new Error('not read')
  return config
}
