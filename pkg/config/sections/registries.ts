import { section, text, texts } from '../option.ts'

/** Image registries that callers may name; see pkg/imageregistry/connect.ts. */
export const registries = section({
  caFile: text({
    default: '',
    description: 'PEM file with additional CAs for image registries.',
  }),
  trustedHosts: texts({
    description:
      'Registries, as host or host:port, that may have loopback or link-local addresses, which are rejected otherwise: a list, or comma-separated.',
  }),
})
