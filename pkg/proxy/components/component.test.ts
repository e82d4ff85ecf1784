import { expect } from 'chai'
import { parseComponent } from './component.ts'

const metadata = { name: 'v1.acme.example.org', uid: 'u', resourceVersion: '1', creationTimestamp: '' }
const names = { group: 'acme.example.org', version: 'v1' }

function parse(spec: object) {
  const parsed = parseComponent({ metadata, spec }, group => group === 'iam.kapis.io')
  return 'url' in parsed ? { ...parsed, url: parsed.url.href } : parsed
}

describe('parseComponent', () => {
  const whole = { ...names, name: metadata.name, isVerified: true, timeoutMs: 30_000 }
  const none = { serverName: undefined, caPem: undefined }
  const valid: readonly (readonly [what: string, spec: object, component: object])[] = [
    ['a URL', { url: 'https://a:8443/base' }, { ...whole, ...none, url: 'https://a:8443/base' }],
    [
      'a Service, with its DNS name as the server name',
      { service: { namespace: 'ns', name: 'svc' } },
      { ...whole, ...none, url: 'https://svc.ns.svc/', serverName: 'svc.ns.svc' },
    ],
    [
      'a Service with a port and a path',
      { service: { namespace: 'ns', name: 'svc', port: 8443, path: '/base' } },
      { ...whole, ...none, url: 'https://svc.ns.svc:8443/base', serverName: 'svc.ns.svc' },
    ],
    [
      'a CA and a timeout',
      { url: 'https://a', caBundle: Buffer.from('PEM').toString('base64'), timeoutSeconds: 5 },
      { ...whole, serverName: undefined, caPem: 'PEM', timeoutMs: 5_000, url: 'https://a/' },
    ],
    [
      'insecureSkipVerify',
      { url: 'https://a', insecureSkipVerify: true },
      { ...whole, ...none, isVerified: false, url: 'https://a/' },
    ],
  ]
  for (const [what, spec, component] of valid) {
    it(`reads ${what}`, () => expect(parse({ ...names, ...spec })).to.deep.equal(component))
  }

  const invalid: readonly (readonly [what: string, spec: object, reason: string, message: string])[] = [
    [
      'a missing group',
      { version: 'v1', url: 'https://a' },
      'Invalid',
      'spec.group and spec.version are required',
    ],
    [
      'a group of Kapis itself',
      { group: 'iam.kapis.io', version: 'v1', url: 'https://a' },
      'GroupReserved',
      'the group iam.kapis.io is already served by Kapis or kube-apiserver',
    ],
    ['a missing address', names, 'Invalid', 'exactly one of spec.url and spec.service is required'],
    [
      'two addresses',
      { ...names, url: 'https://a', service: { namespace: 'a', name: 'b' } },
      'Invalid',
      'exactly one of spec.url and spec.service is required',
    ],
    [
      'an unsupported URL scheme',
      { ...names, url: 'file:///etc' },
      'Invalid',
      'spec.url must be an http or https URL',
    ],
    ['text', { ...names, url: 'not a URL' }, 'Invalid', 'spec.url must be an http or https URL'],
    [
      'a password in the URL',
      { ...names, url: 'https://u:p@a' },
      'Invalid',
      'spec.url must not have a user, query or fragment',
    ],
    [
      'an incomplete Service',
      { ...names, service: { name: 'a' } },
      'Invalid',
      'spec.service requires a namespace and a name',
    ],
  ]
  for (const [what, spec, reason, message] of invalid) {
    it(`reports an error for ${what}`, () => {
      expect(parse(spec)).to.deep.equal({ name: metadata.name, reason, message })
    })
  }
})
