import { expect } from 'chai'
import { accessToken, group, kubectlOutput, makeNamespace, tokenOf, uniqueName, version } from './cluster.ts'
import { sendAs } from './http.ts'

type NamedObject = { readonly metadata: { readonly name: string } }

const namespace = uniqueName('listed')
const paths = ['/kapi/v1/componentstatuses', `/kapis/${group}/${version}/componentstatuses`]
const namesOf = (items: readonly NamedObject[]) => items.map(({ metadata }) => metadata.name)

describe('kinds that can be listed but not watched', function () {
  this.timeout(60_000)

  it('can be listed and read, and answer 405 to a watch', async () => {
    const token = await accessToken()
    const native = JSON.parse(await kubectlOutput('get', '--raw', '/api/v1/componentstatuses'))
    const names = namesOf(native.items).sort()
    for (const path of paths) {
      const response = await sendAs(token, `${path}?sortBy=name&ascending=true`)
      expect(response.code, response.body).to.equal(200)
      const { items, totalItems } = JSON.parse(response.body)
      expect(namesOf(items)).to.deep.equal(names)
      expect(totalItems).to.equal(names.length)
      const one = JSON.parse((await sendAs(token, `${path}/${names[0]}`)).body)
      expect(one).to.include({ kind: 'ComponentStatus', apiVersion: 'v1' })
      const rejection = await sendAs(token, `${path}?watch=true`)
      expect(rejection.code).to.equal(405)
      expect(rejection.body).to.contain('watch is not supported for componentstatuses')
    }
  })

  it('require permission', async () => {
    await makeNamespace(namespace, ['unprivileged'])
    try {
      const token = await tokenOf(namespace, 'unprivileged')
      for (const path of paths) expect((await sendAs(token, path)).code).to.equal(403)
    } finally {
      await kubectlOutput('delete', 'namespace', namespace, '--wait=false')
    }
  })
})
