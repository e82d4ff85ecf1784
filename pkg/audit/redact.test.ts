import { expect } from 'chai'
import { parseRequestInfo } from '../apirequest/request-info.ts'
import { cappedLevel, redactedUri } from './redact.ts'

describe('cappedLevel', () => {
  const secret = [
    '/api/v1/namespaces/a/secrets/s',
    '/kapis/resources.kapis.io/v1alpha3/namespaces/a/secrets',
    '/apis/authentication.k8s.io/v1/tokenreviews',
    '/api/v1/namespaces/a/serviceaccounts/s/token',
    '/kapis/iam.kapis.io/v1alpha2/users/jane/password',
    '/apis/iam.kapis.io/v1alpha2/users/jane',
    '/api/v1/namespaces/a/services/s/proxy/login',
    '/api/v1/namespaces/a/pods/p/exec',
    '/apis/cluster.kapis.io/v1alpha1/clusters/m',
    '/kapis/resources.kapis.io/v1alpha3/resources',
    '/oauth/token',
    '/anything',
  ]
  for (const path of secret) {
    it(`excludes the bodies of ${path}`, () => {
      const info = parseRequestInfo('POST', path)
      expect(cappedLevel('RequestResponse', info)).to.equal('Metadata')
      expect(cappedLevel('Request', info)).to.equal('Metadata')
      expect(cappedLevel('None', info)).to.equal('None')
    })
  }

  it('excludes the bodies of the platform API of a member cluster, and leaves others to the policy', () => {
    const levelOf = (path: string) =>
      cappedLevel('RequestResponse', parseRequestInfo('GET', path, undefined, 'm'))
    expect(levelOf('/clusters/m/kapis/example.org/v1/things')).to.equal('Metadata')
    expect(levelOf('/clusters/m/api/v1/secrets')).to.equal('Metadata')
    expect(levelOf('/clusters/m/api/v1/pods')).to.equal('RequestResponse')
  })

  it('leaves other bodies to the policy', () => {
    const info = parseRequestInfo('POST', '/api/v1/namespaces/a/configmaps')
    expect(cappedLevel('RequestResponse', info)).to.equal('RequestResponse')
  })
})

describe('redactedUri', () => {
  const cases: readonly (readonly [given: string, written: string])[] = [
    ['/a', '/a'],
    ['/a?limit=1&continue=x', '/a?limit=1&continue=x'],
    ['/a?access_token=s3cret&limit=1', '/a?access_token=[redacted]&limit=1'],
    ['/a?ACCESS%5Ftoken=s3cret', '/a?ACCESS%5Ftoken=[redacted]'],
    ['/oauth/callback?code=s3cret&state=s3cret', '/oauth/callback?code=[redacted]&state=[redacted]'],
    ['/a?password', '/a?password=[redacted]'],
    ['/a?%zz=1', '/a?%zz=1'],
  ]
  for (const [given, written] of cases) {
    it(`turns ${given} into ${written}`, () => expect(redactedUri(given)).to.equal(written))
  }
})
