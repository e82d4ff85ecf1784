import { expect } from 'chai'
import type { StoredKey } from './key-set.ts'
import { publishAhead, rotate } from './rotation.ts'

const day = 24 * 3600
const hour = 3600
const tokenSeconds = 4 * hour
const rotateAfterSeconds = 30 * day

async function rotated(stored: readonly StoredKey[], nowSeconds: number): Promise<readonly StoredKey[]> {
  return (await rotate(stored, { nowSeconds, rotateAfterSeconds, tokenSeconds })) ?? stored
}

describe('rotate', () => {
  let first: readonly StoredKey[]
  const start = 1_000_000
  before(async () => {
    first = await rotated([], start)
  })
  const es = (keys: readonly StoredKey[]) => keys.filter(({ alg }) => alg === 'ES256')

  it('starts with one key for each algorithm, which sign immediately', () => {
    expect(first.map(({ alg, signsFrom }) => ({ alg, signsFrom }))).to.deep.equal([
      { alg: 'ES256', signsFrom: start },
      { alg: 'RS256', signsFrom: start },
    ])
  })

  it('does nothing until a new key must be published', async () => {
    expect(await rotate(first, { nowSeconds: start, rotateAfterSeconds, tokenSeconds })).to.equal(undefined)
    const nowSeconds = start + 30 * day - hour - 1
    expect(await rotate(first, { nowSeconds, rotateAfterSeconds, tokenSeconds })).to.equal(undefined)
  })

  it('publishes the next key an hour before it signs', async () => {
    const now = start + 30 * day - hour
    const keys = es(await rotated(first, now))
    expect(keys.map(({ signsFrom }) => signsFrom)).to.deep.equal([start, now + hour])
    expect(keys[0]?.kid).to.equal(es(first)[0]?.kid)
    expect(keys[1]?.kid).to.not.equal(keys[0]?.kid)
  })

  it('publishes a key with an imminent successor a quarter of its time before it signs', async () => {
    const options = { rotateAfterSeconds: 60, tokenSeconds }
    expect(await rotate(first, { ...options, nowSeconds: start + 44 })).to.equal(undefined)
    const next = await rotate(first, { ...options, nowSeconds: start + 45 })
    expect(es(next ?? []).map(({ signsFrom }) => signsFrom)).to.deep.equal([start, start + 60])
    expect([60, 4 * hour, 30 * day].map(publishAhead)).to.deep.equal([15, hour, hour])
  })

  it('is idempotent', async () => {
    const now = start + 30 * day - hour
    expect(
      await rotate(await rotated(first, now), { nowSeconds: now + 60, rotateAfterSeconds, tokenSeconds }),
    ).to.equal(undefined)
  })

  it('publishes ahead of use even if the scheduled time was missed', async () => {
    const now = start + 90 * day
    expect(es(await rotated(first, now)).map(({ signsFrom }) => signsFrom)).to.deep.equal([start, now + hour])
  })

  it('creates new keys on request, once, and with the same overlap', async () => {
    const now = start + day
    const keys = await rotate(first, { nowSeconds: now, rotateAfterSeconds, tokenSeconds, isAsked: true })
    expect(es(keys ?? []).map(({ signsFrom }) => signsFrom)).to.deep.equal([start, now + hour])
    expect(keys).to.have.length(4)
    const again = await rotate(keys ?? [], {
      nowSeconds: now + 60,
      rotateAfterSeconds,
      tokenSeconds,
      isAsked: true,
    })
    expect(again).to.equal(undefined)
  })

  it('keeps a key until the last token that it may have signed expires', async () => {
    const published = start + 30 * day - hour
    const two = await rotated(first, published)
    const requests: number[][] = []
    const options = { nowSeconds: published + 20 * day, rotateAfterSeconds, tokenSeconds }
    const kept = await rotate(two, {
      ...options,
      isNeeded(from, until) {
        requests.push([from, until])
        return true
      },
    })
    expect(kept).to.equal(undefined)
    expect(requests).to.deep.equal(Array(2).fill([start, published + hour]))
    expect(es((await rotate(two, options)) ?? [])).to.have.length(1)
  })

  it('keeps the old key until the last token that it signed has expired', async () => {
    const published = start + 30 * day - hour
    const two = await rotated(first, published)
    const lastExpiry = published + hour + tokenSeconds
    expect(es(await rotated(two, lastExpiry - 1))).to.have.length(2)
    expect(es(await rotated(two, lastExpiry)).map(({ kid }) => kid)).to.deep.equal([es(two)[1]?.kid])
  })
})
