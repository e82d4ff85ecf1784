import { integer, section, text, texts } from '../option.ts'

/** The serving certificate. */
export const tls = section({
  dnsNames: texts({
    env: 'KAPIS_TLS_DNS_NAMES',
    description: 'More DNS names for the serving certificate, besides the Service and localhost.',
  }),
  ipAddresses: texts({
    env: 'KAPIS_TLS_IP_ADDRESSES',
    description: 'More IP addresses for the serving certificate, besides 127.0.0.1.',
  }),
  rolloverSeconds: integer({
    default: 86_400,
    min: 1,
    max: 31_536_000,
    env: 'KAPIS_TLS_ROLLOVER_SECONDS',
    description:
      'When the certificate authority is replaced: for how long the new one is trusted before it signs, and the old one after it has signed last, in seconds. Clients that trust the authority by a file have that long to fetch the new one.',
  }),
  certFile: text({
    default: '',
    env: 'KAPIS_TLS_CERT_FILE',
    description:
      'A serving certificate that another program renews, as PEM with what leads to its authority; with `tls.keyFile` and `tls.caFile`. Read again when it changes.',
  }),
  keyFile: text({ default: '', env: 'KAPIS_TLS_KEY_FILE', description: 'Its private key.' }),
  caFile: text({
    default: '',
    env: 'KAPIS_TLS_CA_FILE',
    description:
      'The authorities that kube-apiserver is to trust: `caBundle` of the APIService. While one is replaced, both.',
  }),
}).superRefine(({ certFile, keyFile, caFile }, { addIssue }) => {
  const missing = Object.entries({ certFile, keyFile, caFile }).filter(([, file]) => file === '')
  if (missing.length === 3) return
  for (const [name] of missing)
    addIssue({
      code: 'custom',
      path: [name],
      message: 'is required with the others: certFile, keyFile and caFile go together',
    })
})
