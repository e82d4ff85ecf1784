import { integer, section, text, texts } from '../option.ts'

export const tls = section({
  dnsNames: texts({
    env: 'KAPIS_TLS_DNS_NAMES',
    description: 'Additional DNS names of the serving certificate, next to the Service and localhost.',
  }),
  ipAddresses: texts({
    env: 'KAPIS_TLS_IP_ADDRESSES',
    description: 'Additional IP addresses of the serving certificate, next to 127.0.0.1.',
  }),
  rolloverSeconds: integer({
    default: 86_400,
    min: 1,
    max: 31_536_000,
    env: 'KAPIS_TLS_ROLLOVER_SECONDS',
    description:
      'CA rotation: how long the new CA is published before it issues certificates, and the old CA after it has issued its last one, in seconds. Clients that read the CA from a file have this long to fetch the new one.',
  }),
  certFile: text({
    default: '',
    env: 'KAPIS_TLS_CERT_FILE',
    description:
      'PEM file with the serving certificate and its intermediate certificates, if another program such as cert-manager issues it; needs `tls.keyFile` and `tls.caFile`. Reloaded when it changes.',
  }),
  keyFile: text({ default: '', env: 'KAPIS_TLS_KEY_FILE', description: 'Its private key.' }),
  caFile: text({
    default: '',
    env: 'KAPIS_TLS_CA_FILE',
    description:
      'PEM file with the CAs for `caBundle` of the APIService; both the old and the new one during a rotation.',
  }),
}).superRefine(({ certFile, keyFile, caFile }, { addIssue }) => {
  const missing = Object.entries({ certFile, keyFile, caFile }).filter(([, file]) => file === '')
  if (missing.length === 3) return
  for (const [name] of missing)
    addIssue({
      code: 'custom',
      path: [name],
      message: 'is required: certFile, keyFile and caFile must be set together',
    })
})
