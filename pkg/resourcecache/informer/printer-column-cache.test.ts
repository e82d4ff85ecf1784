import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import { servedNodes } from '../fixtures.ts'
import { createPrinterColumns } from './printer-column-cache.ts'

const widgets = {
  ...servedNodes.kind,
  plural: 'widgets',
  source: { group: 'example.com', version: 'v1', path: '/apis/example.com/v1/widgets' },
}

describe('createPrinterColumns', () => {
  it('reads a CRD once, and none for the core group', async () => {
    const requests: string[] = []
    const columns = createPrinterColumns({
      async call({ path }) {
        requests.push(path)
        return {
          spec: { versions: [{ name: 'v1', additionalPrinterColumns: [{ name: 'A', jsonPath: '.a' }] }] },
        }
      },
    })
    for (const _ of [1, 2])
      expect(await columns(widgets)).to.deep.equal([{ name: 'A', path: { before: ['a'] } }])
    expect(await columns(servedNodes.kind)).to.equal(undefined)
    expect(requests).to.deep.equal([
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com',
    ])
  })

  it('shares a read among concurrent requests, and limits its cache by the size of the CRDs', async () => {
    let count = 0
    const additionalPrinterColumns = [{ name: 'A'.repeat(1024 * 1024), jsonPath: '.a' }]
    const columns = createPrinterColumns({
      async call() {
        count++
        return { spec: { versions: [{ name: 'v1', additionalPrinterColumns }] } }
      },
    })
    await Promise.all([columns(widgets), columns(widgets)])
    expect(count).to.equal(1)
    // Too large for the cache.
    await columns(widgets)
    expect(count).to.equal(2)
  })

  it('returns nothing for kinds without a CRD, and retries after a failure', async () => {
    const responses = [new Status(500, 'InternalError', 'no'), new Status(404, 'NotFound', 'none')]
    const columns = createPrinterColumns({
      async call() {
        throw responses.shift()
      },
    })
    const failed = await columns(widgets).catch((error: unknown) => error)
    expect(failed).to.include({ code: 503, message: 'the columns of widgets cannot be read; retry later' })
    expect(await columns(widgets)).to.equal(undefined)
  })
})
