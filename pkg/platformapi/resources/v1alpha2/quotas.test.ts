import { expect } from 'chai'
import { object, storeOf } from '../../iam/v1alpha2/roles/fixtures.ts'
import { readQuotas } from './quotas.ts'

describe('readQuotas', () => {
  const quota = (name: string, hard: object, used: object) =>
    object('ResourceQuota', name, { status: { hard, used } }, { namespace: 'shop' })
  const stores = new Map([
    [
      'resourcequotas',
      storeOf('resourcequotas', [
        quota(
          'a',
          { pods: '10', 'requests.memory': '2Gi', 'limits.cpu': '1' },
          { pods: '4', 'requests.memory': '512Mi', 'limits.cpu': '1500m' },
        ),
        quota('b', { pods: '8', 'count/secrets': '3' }, { pods: '4' }),
      ]),
    ],
    ['ingresses', storeOf('ingresses', [object('Ingress', 'web', {}, { namespace: 'shop' })])],
  ])
  const empty = storeOf('configmaps', [])
  const read = (namespace: string) => readQuotas(async plural => stores.get(plural) ?? empty, namespace)

  it('returns the lowest limits, their usage, and what remains', async () => {
    const { hard, used, left } = await read('shop')
    expect(hard).to.deep.equal({
      pods: '8',
      'requests.memory': '2Gi',
      'limits.cpu': '1',
      'count/secrets': '3',
    })
    expect(left).to.deep.equal({
      pods: '4',
      'requests.memory': '1536Mi',
      'limits.cpu': '0',
      'count/secrets': '3',
    })
    expect(used).to.include({ pods: '4', 'requests.memory': '512Mi', 'count/configmaps': '0' })
  })

  it('counts ingresses by the name that the console of KubeSphere reads too', async () => {
    const { used, left } = await read('')
    expect(used).to.include({ 'count/ingresses.networking.k8s.io': '1', 'count/ingresses.extensions': '1' })
    expect(left).to.equal(undefined)
  })
})
