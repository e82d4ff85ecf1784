import { expect } from 'chai'
import { thrownFields } from '../../apierrors/fixtures.ts'
import { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { parseDeleteOptions, toDeleteBody } from './delete-options.ts'

describe('parseDeleteOptions', () => {
  const kind = { kind: 'DeleteOptions', apiVersion: 'v1' }
  const valid: readonly (readonly [body: object, options: object, isDryRun: boolean])[] = [
    [{}, {}, false],
    [kind, {}, false],
    [{ ...kind, dryRun: [] }, {}, false],
    [{ ...kind, dryRun: ['All'] }, {}, true],
    [
      { preconditions: { uid: 'u', resourceVersion: '7' }, propagationPolicy: 'Background' },
      { preconditions: { uid: 'u', resourceVersion: '7' }, propagationPolicy: 'Background' },
      false,
    ],
  ]
  for (const [body, options, isDryRun] of valid)
    it(`reads ${JSON.stringify(body)}`, () => {
      expect(parseDeleteOptions(body)).to.deep.equal({ options, isDryRun })
    })

  const invalid: readonly (readonly [body: unknown, message: string])[] = [
    [[], 'the body must be DeleteOptions as a JSON object'],
    [{ kind: 'User' }, 'the body must be DeleteOptions'],
    [{ dryRun: ['None'] }, 'invalid dryRun ["None"]: expected ["All"]'],
    [{ dryRun: true }, 'invalid dryRun true: expected ["All"]'],
    [
      { dryrun: ['All'] },
      'unknown field "dryrun"; supported: apiVersion, kind, dryRun, preconditions, gracePeriodSeconds, propagationPolicy, orphanDependents',
    ],
  ]
  for (const [body, message] of invalid)
    it(`rejects ${JSON.stringify(body)}`, () => {
      const rejection = { code: 400, reason: 'BadRequest', message }
      expect(thrownFields(() => parseDeleteOptions(body))).to.deep.equal(rejection)
    })
})

describe('toDeleteBody', () => {
  const kind = { kind: 'DeleteOptions', apiVersion: 'v1' }
  const body = (query: string, given: object | undefined) =>
    toDeleteBody({ query: new QueryParameters(query) }, given && parseDeleteOptions(given))

  it('adds the dry run of the query to the body, since kube-apiserver ignores the query next to a body', () => {
    expect(body('dryRun=All', {})).to.deep.equal({ body: { ...kind, dryRun: ['All'] } })
    expect(body('', { dryRun: ['All'] })).to.deep.equal({ body: { ...kind, dryRun: ['All'] } })
    expect(body('', { gracePeriodSeconds: 1 })).to.deep.equal({ body: { ...kind, gracePeriodSeconds: 1 } })
    expect(body('dryRun=All', undefined)).to.deep.equal({})
  })

  for (const value of ['', 'all', 'None'])
    it(`rejects dryRun=${value}, which would delete`, () => {
      const message = `dryRun must be All, not ${JSON.stringify(value)}`
      expect(thrownFields(() => body(`dryRun=${value}`, {}))).to.include({ code: 400, message })
    })
})
