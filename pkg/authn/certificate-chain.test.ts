import { X509Certificate } from 'node:crypto'
import { expect } from 'chai'
import { commonName, subjectValues } from './certificate-chain.ts'

// openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj '/CN=first/O=dev/O= ops/CN=last'
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

describe('the subject of a certificate', () => {
  it('is named by its last common name, as kube-apiserver reads it', () => {
    expect(commonName(certificate)).to.equal('last')
  })

  it('keeps organizations as they are, in order', () => {
    expect(subjectValues(certificate, 'O')).to.deep.equal(['dev', ' ops'])
  })
})
