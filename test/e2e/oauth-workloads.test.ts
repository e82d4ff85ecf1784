import { expect } from 'chai'
import { exportJWK, generateKeyPair } from 'jose'
import * as oidc from 'openid-client'
import { kubectlOutput, makeNamespace, uniqueName } from './cluster.ts'
import { bearer, claimsOf, createUser, form, loginAs, parseResponse, removeUser } from './oauth.ts'
import { createClient, discover, issuerUrl, removeClient } from './oauth-clients.ts'

const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange'
const type = (name: string) => `urn:ietf:params:oauth:token-type:${name}`
const whoami = '/apis/authentication.k8s.io/v1/selfsubjectreviews'

describe('workloads without stored secrets', function () {
  this.timeout(60_000)
  const namespace = uniqueName('workloads')
  // Names that the policies of the development cluster contain.
  const runner = 'sample-runner'
  const signer = { name: uniqueName('signer'), secret: 's' }
  const user = { username: uniqueName('person'), password: 'Correct horse 1' }
  let issuer: string
  let privateKey: oidc.CryptoKey

  before(async () => {
    issuer = await issuerUrl()
    const pair = await generateKeyPair('ES256', { extractable: true })
    privateKey = pair.privateKey
    await makeNamespace(namespace, [runner])
    await createUser({ username: runner, password: 'Correct horse 1' })
    await createUser(user)
    await createClient({ name: runner, public: true, grantTypes: [exchange] })
    await createClient({
      ...signer,
      user: runner,
      grantTypes: ['client_credentials'],
      jwks: { keys: [await exportJWK(pair.publicKey)] },
      serviceAccounts: [`${namespace}/${runner}`],
    })
  })
  after(async () => {
    await removeClient(runner)
    await removeClient(signer.name)
    await removeUser(runner)
    await removeUser(user.username)
    await kubectlOutput('delete', 'namespace', namespace, '--wait=false')
  })

  const tokenOfRunner = (where: string, audience: string) =>
    kubectlOutput('-n', where, 'create', 'token', runner, `--audience=${audience}`).then(text => text.trim())

  it('authenticate as a client with private_key_jwt, as openid-client does', async () => {
    const found = await discover(signer.name, 's')
    const proof = oidc.PrivateKeyJwt(privateKey)
    const client = new oidc.Configuration(found.serverMetadata(), signer.name, undefined, proof)
    const tokens = await oidc.clientCredentialsGrant(client)
    expect(claimsOf(tokens.access_token)).to.include({ sub: runner, client_id: signer.name })
  })

  it('authenticate as a client with a service account token', async () => {
    const assertion = (token: string) =>
      form('/oauth/token', {
        grant_type: 'client_credentials',
        client_id: signer.name,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: token,
      })
    expect(await assertion(await tokenOfRunner(namespace, issuer))).to.include({ code: 200 })
    // A token for the audience of kube-apiserver is not valid for Kapis.
    const other = await tokenOfRunner(namespace, 'https://kubernetes.default.svc')
    expect(parseResponse(await assertion(other))).to.deep.equal([
      401,
      {
        error: 'invalid_client',
        error_description:
          'invalid client assertion: kube-apiserver rejected the token of the service account',
      },
    ])
  })

  it('exchange a service account token for a token of the policy’s user', async () => {
    await kubectlOutput('-n', 'default', 'create', 'serviceaccount', runner)
    try {
      const client = await discover(runner, '')
      const given = await tokenOfRunner('default', issuer)
      const tokens = await oidc.genericGrantRequest(client, exchange, {
        client_id: runner,
        subject_token: given,
        subject_token_type: type('jwt'),
      })
      expect(tokens.expires_in).to.equal(600)
      const { code, body } = await bearer(tokens.access_token, '/api/v1/namespaces/default')
      expect([code, body]).to.satisfy(() => code === 403 && body.includes(`User \\"${runner}\\"`), body)
    } finally {
      await kubectlOutput('-n', 'default', 'delete', 'serviceaccount', runner)
    }
  })

  it('narrow a user’s token to read-only', async () => {
    const { access_token: own } = await loginAs(user)
    const { code, body } = await form('/oauth/token', {
      grant_type: exchange,
      client_id: runner,
      subject_token: own,
      subject_token_type: type('access_token'),
    })
    const { access_token: token, scope } = JSON.parse(body)
    expect([code, scope, claimsOf(token).sub]).to.deep.equal([200, 'read', user.username])
    expect(await bearer(token, whoami)).to.include({ code: 403 })
  })
})
