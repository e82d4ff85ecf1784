import { X509Certificate } from 'node:crypto'
import { expect } from 'chai'
import { Status } from '../apierrors/status.ts'
import { commonName, subjectValues, userId } from './certificate-chain.ts'

// Created by openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj
// '/CN=first/O=dev/O=ops/CN=last'
const certificate = new X509Certificate(`-----BEGIN CERTIFICATE-----
MIIBzTCCAXOgAwIBAgIUKZqBTZqKH+lVzRnbwdh0eWIIwJswCgYIKoZIzj0EAwIw
PDEOMAwGA1UEAwwFZmlyc3QxDDAKBgNVBAoMA2RldjENMAsGA1UECgwEIG9wczEN
MAsGA1UEAwwEbGFzdDAeFw0yNjExMjYxMTExMTlaFw0zNjExMjMxMTExMTlaMDwx
DjAMBgNVBAMMBWZpcnN0MQwwCgYDVQQKDANkZXYxDTALBgNVBAoMBCBvcHMxDTAL
BgNVBAMMBGxhc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARgJ7CPD/bo+YzX
Rb8E2qlJcbGheW4DhSbOGiZESbrQtCzWqO4F6p6wTHVAtZpweb/YQrJ8QsjaRori
vhgO0P4Ro1MwUTAdBgNVHQ4EFgQUHJzhCQfOpY0DWLiv4nBiliI/6uUwHwYDVR0j
BBgwFoAUHJzhCQfOpY0DWLiv4nBiliI/6uUwDwYDVR0TAQH/BAUwAwEB/zAKBggq
hkjOPQQDAgNIADBFAiEAlJVPqU27z5fUyGXL2h8UXQfo/OxcoC0si5/dr1WkICwC
IFsrZfy8H23nUw17N73yv3GmOrGz7cz6SPl4VwV9IcPD
-----END CERTIFICATE-----`)

// The same certificate with 1.3.6.1.4.1.57683.2 (an oid_section), once and twice in the subject.
const withId = new X509Certificate(`-----BEGIN CERTIFICATE-----
MIIBQTCB5wIUMz8om29LHEe/gDJJRpPYdlUDlsIwCgYIKoZIzj0EAwIwIzENMAsG
A1UEAwwEamFuZTESMBAGCSsGAQQBg8JTAgwDdS0xMB4XDTI2MTEyNjE2MjY1OVoX
DTM2MTEyMzE2MjY1OVowIzENMAsGA1UEAwwEamFuZTESMBAGCSsGAQQBg8JTAgwD
dS0xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE3aSq7fM2OZX0W2QicjDIjklg
oD8QD0OMhFuVhbkonbVgEHGR1WwZ+0E8RpDOFaCZU2CCnHfylZbgS42h9gB6LjAK
BggqhkjOPQQDAgNJADBGAiEAjS5BBKDMBAt0BZ4wxIwgWNi4sNjkQDE1BH/oxqoK
Rf0CIQCko8ccdlgJ1xJW0fwMYYgAQN+5l0KmRlTFQ3MPMhveYA==
-----END CERTIFICATE-----`)
const withTwoIds = new X509Certificate(`-----BEGIN CERTIFICATE-----
MIIBaTCCAQ8CFGFFAGP6mPT/WdL9msUL7MD1PexKMAoGCCqGSM49BAMCMDcxDTAL
BgNVBAMMBGphbmUxEjAQBgkrBgEEAYPCUwIMA3UtMTESMBAGCSsGAQQBg8JTAgwD
dS0yMB4XDTI2MTEyNjE2MjcwMFoXDTM2MTEyMzE2MjcwMFowNzENMAsGA1UEAwwE
amFuZTESMBAGCSsGAQQBg8JTAgwDdS0xMRIwEAYJKwYBBAGDwlMCDAN1LTIwWTAT
BgcqhkjOPQIBBggqhkjOPQMBBwNCAASsn1fqOE0wdoLnLl4ZHmIxlbBZ2m6EQ/h3
8aVe441UEuE3z8DIe506DXhtouN2Cuk6TX59wkpG1gBOqlIr/0APMAoGCCqGSM49
BAMCA0gAMEUCIARSAyVFMBeHHxJxGg0KkYQmx7HHSXFogC9UU6OsK7tzAiEA6rro
tV3MeLh8cnb3MfGDMEGjIyj79wR4D0PWpTwYdsA=
-----END CERTIFICATE-----`)

describe('the subject of a certificate', () => {
  it('has the last common name, as in kube-apiserver', () => {
    expect(commonName(certificate)).to.equal('last')
  })

  it('has the organizations unchanged, in order', () => {
    expect(subjectValues(certificate, 'O')).to.deep.equal(['dev', ' ops'])
  })
  it('has at most one user ID, as in kube-apiserver', () => {
    expect([userId(certificate), userId(withId)]).to.deep.equal(['', 'u-1'])
    expect(() => userId(withTwoIds))
      .to.throw(Status)
      .that.includes({ code: 401 })
  })
})
