import { expect } from 'chai'
import { countPassed, findDifferences, parseGinkgoReport, parseKubectlSuite } from './results.ts'

describe('results of the Kubernetes tests', () => {
  it('contain the groups that kubectl’s suite has run', () => {
    const output = [
      'Recording: record_command_canary',
      'Running command: record_command_canary',
      '+++ exit code: 127',
      'Recording: run_pod_tests',
      'Running command: run_pod_tests',
      '\u001b(B\u001b[m+++ exit code: 0',
      'Recording: run_rs_tests',
      '+++ exit code: 1',
      '+++ error: 1',
      'Error when running run_rs_tests',
      'Recording: run_job_tests',
      'the suite was ended here',
    ].join('\n')
    expect([...parseKubectlSuite(output)]).to.deep.equal([
      ['run_pod_tests', 'passed'],
      ['run_rs_tests', 'failed'],
      ['run_job_tests', 'failed'],
    ])
  })

  it('contain the specs that Ginkgo has run', () => {
    const spec = (LeafNodeText: string, State: string, LeafNodeType = 'It') => ({
      ContainerHierarchyTexts: LeafNodeType === 'It' ? ['[sig-auth] SubjectReview'] : null,
      LeafNodeType,
      LeafNodeText,
      State,
    })
    const SpecReports = [
      spec('', 'passed', 'BeforeSuite'),
      spec('reviews', 'passed'),
      spec('left out', 'skipped'),
      spec('not yet', 'pending'),
      spec('refuses', 'failed'),
      spec('hangs', 'timedout'),
    ]
    expect([...parseGinkgoReport(JSON.stringify([{ SpecReports }, { SpecReports: null }]))]).to.deep.equal([
      ['[sig-auth] SubjectReview reviews', 'passed'],
      ['[sig-auth] SubjectReview refuses', 'failed'],
      ['[sig-auth] SubjectReview hangs', 'failed'],
    ])
  })

  it('differ if a test ends differently, or was not run', () => {
    const straight = new Map([
      ['same', 'passed'],
      ['both', 'failed'],
      ['ours', 'passed'],
      ['only there', 'passed'],
    ] as const)
    const kapis = new Map([
      ['same', 'passed'],
      ['both', 'failed'],
      ['ours', 'failed'],
      ['only here', 'failed'],
    ] as const)
    expect(findDifferences(straight, kapis)).to.deep.equal([
      { test: 'only here', straight: 'not run', kapis: 'failed' },
      { test: 'only there', straight: 'passed', kapis: 'not run' },
      { test: 'ours', straight: 'passed', kapis: 'failed' },
    ])
    expect(countPassed(straight)).to.equal('3 of 4 passed')
  })
})
