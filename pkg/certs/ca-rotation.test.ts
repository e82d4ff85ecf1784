import { X509Certificate } from 'node:crypto'
import { expect } from 'chai'
import { type CertificateAuthority, firstCa, planCaRotation, takeStep } from './ca-rotation.ts'
import { createCa } from './issue.ts'

const start = new Date('2031-05-06T07:08:09Z')
const startMs = start.getTime()
const hourMs = 3_600_000
const dayMs = 24 * hourMs
const yearMs = 365 * dayMs
const first = firstCa(start)
const calm = { nowMs: startMs, overlapMs: hourMs, isRequested: false, servingIssuedMs: startMs }

describe('planCaRotation', () => {
  it('keeps a young CA, and checks again after four fifths of its lifetime', () => {
    const plan = planCaRotation(first, calm)
    expect(plan.step).to.equal(undefined)
    const due = plan.step === undefined ? plan.dueMs : 0
    expect(Math.abs(due - (startMs + 8 * yearMs))).to.be.below(dayMs)
    expect(planCaRotation(first, { ...calm, nowMs: due })).to.deep.equal({ step: 'announce' })
  })

  it('rotates in three steps: announced, used, removed, each after the overlap', () => {
    expect(planCaRotation(first, { ...calm, isRequested: true })).to.deep.equal({ step: 'announce' })
    const announced = takeStep('announce', first, start)
    expect(planCaRotation(announced, calm)).to.deep.equal({ step: undefined, dueMs: startMs + hourMs })
    // A repeated request does not start another rotation.
    expect(planCaRotation(announced, { ...calm, isRequested: true }).step).to.equal(undefined)
    const switchMs = startMs + hourMs
    expect(planCaRotation(announced, { ...calm, nowMs: switchMs })).to.deep.equal({ step: 'switch' })
    const switched = takeStep('switch', announced, new Date(switchMs))
    const later = { ...calm, nowMs: switchMs, servingIssuedMs: switchMs }
    expect(planCaRotation(switched, later)).to.deep.equal({ step: undefined, dueMs: switchMs + hourMs })
    expect(planCaRotation(switched, { ...later, nowMs: switchMs + hourMs })).to.deep.equal({ step: 'retire' })
    expect(planCaRotation(takeStep('retire', switched, start), later).step).to.equal(undefined)
  })

  it('does not remove a CA while its certificate is still served', () => {
    const switched = takeStep('switch', takeStep('announce', first, start), start)
    const nowMs = startMs + yearMs
    expect(planCaRotation(switched, { ...calm, nowMs, servingIssuedMs: undefined }).step).to.equal(undefined)
  })
})

describe('takeStep', () => {
  const announced = takeStep('announce', first, start)
  const switched = takeStep('switch', announced, start)

  it('never signs with a CA that is not trusted', () => {
    const states: readonly CertificateAuthority[] = [
      first,
      announced,
      switched,
      takeStep('retire', switched, start),
    ]
    expect(states.map(({ trusted }) => trusted.length)).to.deep.equal([1, 2, 2, 1])
    for (const { current, trusted } of states) expect(trusted[0]).to.equal(current.certPem)
    expect(announced.trusted).to.include(announced.next?.certPem)
    expect(switched.trusted).to.include(first.current.certPem)
    expect(switched.current).to.deep.equal(announced.next)
  })

  it('creates a CA with a separate key, valid for ten years', () => {
    const cert = new X509Certificate(announced.next?.certPem ?? '')
    expect(cert.validToDate.getTime() - startMs).to.equal(10 * yearMs)
    expect(announced.next?.keyPem).to.not.equal(first.current.keyPem)
  })

  it('removes all other CAs, however many there are', () => {
    const stray = createCa({ commonName: 'stray', validityDays: 1 })
    const many = { ...first, trusted: [...first.trusted, stray.certPem] }
    expect(takeStep('retire', many, start)).to.deep.equal(first)
  })
})
