import { expect } from 'chai'
import { entry } from '../fixtures.ts'
import { type WatchChange, WatchWindow } from './watch-window.ts'

const minute = 60_000
const change = (version: number): WatchChange => ({
  version,
  type: 'MODIFIED',
  entry: entry('n', { version }),
  old: undefined,
})
const versionsOf = (changes: readonly WatchChange[] | undefined) => changes?.map(({ version }) => version)

describe('WatchWindow', () => {
  it('returns the changes after a version, and nothing before its horizon', () => {
    const history = new WatchWindow(10)
    for (const version of [12, 15, 16]) history.push(change(version), 0)
    const table: readonly [number, readonly number[] | undefined][] = [
      [0, undefined],
      [9, undefined],
      [10, [12, 15, 16]],
      [11, [12, 15, 16]],
      [12, [15, 16]],
      [14, [15, 16]],
      [15, [16]],
      [16, []],
      [99, []],
    ]
    for (const [version, expected] of table)
      expect(versionsOf(history.since(version))).to.deep.equal(expected)
    expect(history.horizon).to.equal(10)
  })

  it('keeps all changes of the last five minutes', () => {
    const history = new WatchWindow(0)
    for (let version = 1; version <= 5000; version++) history.push(change(version), 5 * minute)
    history.push(change(5001), 10 * minute)
    expect(history.since(0)).to.have.length(5001)
  })

  it('drops older changes, and reports the new horizon', () => {
    const history = new WatchWindow(0)
    for (let version = 1; version <= 1000; version++) history.push(change(version), 0)
    for (let version = 1001; version <= 2048; version++) history.push(change(version), 5 * minute + 1)
    expect(history.horizon).to.equal(1000)
    expect(history.since(999)).to.equal(undefined)
    expect(versionsOf(history.since(1000))?.[0]).to.equal(1001)
  })

  it('also drops old changes when there are few', () => {
    const history = new WatchWindow(0)
    for (let version = 1; version <= 100; version++) history.push(change(version), 0)
    history.push(change(101), 5 * minute + minute / 4)
    expect(history.horizon).to.equal(0)
    history.push(change(102), 6 * minute)
    expect(history.horizon).to.equal(100)
    expect(versionsOf(history.since(100))).to.deep.equal([101, 102])
  })

  it('limits the bytes that it keeps, even for few changes', () => {
    const history = new WatchWindow(0)
    const large = entry('n', { annotations: { text: 'x'.repeat(1024 * 1024) } })
    for (let version = 1; version <= 200; version++) history.push({ ...change(version), entry: large }, 0)
    expect(history.since(0)).to.equal(undefined)
    const kept = history.since(history.horizon)?.length ?? 0
    expect(kept).to.be.within(40, 64)
    expect(history.horizon + kept).to.equal(200)
  })

  it('limits the number of changes', () => {
    const history = new WatchWindow(0, Number.POSITIVE_INFINITY)
    for (let version = 1; version <= 103_000; version++) history.push(change(version), 0)
    expect(history.since(0)).to.equal(undefined)
    const kept = history.since(history.horizon)?.length ?? 0
    expect(kept).to.be.within(99_000, 101_024)
    expect(history.horizon + kept).to.equal(103_000)
  })
})
