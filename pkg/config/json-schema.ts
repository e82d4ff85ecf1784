import { z } from 'zod'
import { document } from './config.ts'

/** Returns the JSON Schema (2020-12) of the configuration file. */
export function configSchema() {
  const schema = z.toJSONSchema(document, {
    io: 'input',
    override({ jsonSchema }) {
      // Removes custom annotations (environment, reloads), which are not part of JSON Schema, and
      // the default `{}` of sections.
      delete jsonSchema.env
      delete jsonSchema.isReloaded
      if (jsonSchema.type === 'object') delete jsonSchema.default
    },
  })
  return { ...schema, title: 'Configuration of Kapis' }
}

export function renderSchema(): string {
  return `${JSON.stringify(configSchema(), null, 2)}\n`
}
