import { expect } from 'chai'
import { rejectedStatus } from '../../apierrors/fixtures.ts'
import { writeVarint } from '../../protobuf/wire.ts'
import { respondJson, startFakeKubeApiserver } from '../fixtures.ts'
import { readObjectVersion, readVersionPage, type VersionPage } from './list-versions.ts'

/** Encodes a length-delimited protobuf field. */
function field(number: number, value: string | Buffer): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([writeVarint(number * 8 + 2), writeVarint(bytes.length), bytes])
}

function message(fields: readonly (readonly [number, string | Buffer])[]): Buffer {
  return Buffer.concat(fields.map(([number, value]) => field(number, value)))
}

const typeMeta = message([
  [1, 'meta.k8s.io/v1'],
  [2, 'PartialObjectMetadataList'],
])
const managed = message([[1, 'kubectl']])
const object = (name: string, namespace: string, version: string) =>
  message([
    [
      1,
      message([
        ...([
          [1, name],
          [3, namespace],
          [5, 'uid'],
          [6, version],
        ] as const),
        [17, managed],
      ]),
    ],
  ])
const sent = Buffer.concat([
  Buffer.from('k8s\0'),
  message([
    [1, typeMeta],
    [
      2,
      message([
        [
          1,
          message([
            [2, '17'],
            [3, 'next'],
          ]),
        ],
        [2, object('a', '', '3')],
        [2, object('é', 'x', '18446744073709551615')],
      ]),
    ],
    [3, ''],
    [4, ''],
  ]),
])
const page: VersionPage = {
  version: '17',
  continueToken: 'next',
  items: [
    { namespace: '', name: 'a', resourceVersion: '3' },
    { namespace: 'x', name: 'é', resourceVersion: '18446744073709551615' },
  ],
}

describe('readVersionPage', () => {
  async function readFrom(body: Buffer | object): Promise<{ page: VersionPage; accept: string | undefined }> {
    let accept: string | undefined
    const { client, close } = await startFakeKubeApiserver((req, res) => {
      accept = req.headers.accept
      if (Buffer.isBuffer(body)) res.end(body)
      else respondJson(res, 200, body)
    })
    try {
      return { page: await readVersionPage(client, { path: '/api/v1/nodes?limit=2' }), accept }
    } finally {
      await close()
    }
  }

  it('requests metadata, and parses protobuf', async () => {
    const read = await readFrom(sent)
    expect(read.page).to.deep.equal(page)
    expect(read.accept).to.match(/^application\/vnd\.kubernetes\.protobuf;as=PartialObjectMetadataList;/)
  })

  it('parses the objects of a server that sends JSON', async () => {
    const body = {
      kind: 'NodeList',
      metadata: { resourceVersion: '17', continue: 'next' },
      items: page.items.map(item => ({ metadata: item, spec: {} })),
    }
    expect((await readFrom(body)).page).to.deep.equal(page)
  })

  it('parses an empty list', async () => {
    const body = { metadata: { resourceVersion: '17' }, items: null }
    expect((await readFrom(body)).page).to.deep.equal({ version: '17', continueToken: '', items: [] })
  })

  for (const [what, body] of [
    ['a response that is not a list', { kind: 'Status' }],
    ['a truncated response', sent.subarray(0, 60)],
    ['nothing', Buffer.from('k8s\0')],
  ] as const) {
    it(`throws 503 for ${what}`, async () => {
      const rejection = await rejectedStatus(readFrom(body))
      expect(rejection).to.include({ code: 503, message: 'kube-apiserver returned a list that is not valid' })
    })
  }
})

describe('readObjectVersion', () => {
  async function readFrom(code: number, body: object): Promise<string | undefined> {
    const { client, close } = await startFakeKubeApiserver((_req, res) => respondJson(res, code, body))
    try {
      return await readObjectVersion(client, { path: '/api/v1/nodes/a' })
    } finally {
      await close()
    }
  }

  it('returns the version of the object', async () =>
    expect(await readFrom(200, { metadata: { name: 'a', resourceVersion: '17' } })).to.equal('17'))

  it('returns undefined for a missing object', async () =>
    expect(await readFrom(404, { code: 404, reason: 'NotFound', message: 'nodes "a" not found' })).to.equal(
      undefined,
    ))

  it('throws for any other response', async () => {
    const rejection = await rejectedStatus(
      readFrom(500, { code: 500, reason: 'InternalError', message: 'no' }),
    )
    expect(rejection).to.include({ code: 500, message: 'no' })
  })
})
