import { expect } from 'chai'
import { createLineReader } from './log-line-reader.ts'

const source = { file: '/x', namespace: 'kube-system', pod: 'etcd-control-plane-0', container: 'etcd' }
const now = new Date('2031-02-03T04:05:06.789Z')

describe('createLineReader', () => {
  it('creates one document per complete line', () => {
    const read = createLineReader(source)
    const line = '{"level":"warn","ts":"2031-01-02T03:04:05.123456Z","msg":"slow"}'
    expect(read(`${line}\npart`, now).map(text => JSON.parse(text))).to.deep.equal([
      {
        time: '2031-01-02T03:04:05.123456Z',
        log: `${line}\n`,
        kubernetes: {
          namespace_name: 'kube-system',
          pod_name: 'etcd-control-plane-0',
          container_name: 'etcd',
          host: 'control-plane-0',
          docker_id: 'etcd-control-plane-0-etcd',
          labels: { 'app.kubernetes.io/name': 'etcd' },
        },
      },
    ])
    expect(read('', now)).to.deep.equal([])
    expect(read(' and rest\n\n', now).map(text => JSON.parse(text).log)).to.deep.equal(['part and rest\n'])
  })

  it('parses the time of klog, which has neither year nor time zone', () => {
    const [text = ''] = createLineReader(source)('I0102 03:04:05.123456       1 serving.go:1] up\n', now)
    const local = new Date(2031, 0, 2, 3, 4, 5)
    expect(JSON.parse(text).time).to.equal(local.toISOString().replace('000Z', '123456Z'))
  })

  it('gives a line without a time the time at which it was read', () => {
    const [text = ''] = createLineReader(source)('WARNING: something\n', now)
    expect(JSON.parse(text).time).to.equal('2031-02-03T04:05:06.789Z')
  })
})
