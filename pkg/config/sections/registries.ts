import type { z } from 'zod'
import { section, text, texts } from '../option.ts'

/** Image registries that callers name; see pkg/imageregistry/connect.ts. */
export const registries = section({
  caFile: text({
    default: '',
    description: 'File with authorities (PEM) that image registries are trusted by, besides the public ones.',
  }),
  trustedHosts: texts({
    description:
      'Registries, as host or host:port, that may lie at loopback or link-local addresses, which are refused otherwise: a list, or comma-separated.',
  }),
})

export type RegistriesConfig = Readonly<z.output<typeof registries>>
