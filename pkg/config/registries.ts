import { type Fields, text, texts } from './fields.ts'

/** Image registries that callers name; see pkg/registry/connect.ts. */
export type RegistriesConfig = { readonly caFile: string; readonly trustedHosts: readonly string[] }

export const registriesMembers = ['caFile', 'trustedHosts']

export function parseRegistries(fields: Fields): RegistriesConfig {
  return { caFile: text(fields, 'caFile', { default: '' }), trustedHosts: texts(fields, 'trustedHosts') }
}
