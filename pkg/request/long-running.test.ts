import { expect } from 'chai'
import { isLongRunning } from './long-running.ts'
import { QueryParameters } from './query-parameters.ts'
import { parseRequestInfo } from './request-info.ts'

function ask(method: string, target: string): boolean {
  const [path = '', query = ''] = target.split('?')
  const parameters = new QueryParameters(query)
  return isLongRunning(parseRequestInfo(method, path, parameters), parameters)
}

describe('isLongRunning', () => {
  const long = [
    '/api/v1/pods?watch=true',
    '/api/v1/watch/pods',
    '/api/v1/namespaces/a/pods/b/exec?command=sh',
    '/api/v1/namespaces/a/pods/b/attach',
    '/api/v1/namespaces/a/pods/b/portforward',
    '/api/v1/namespaces/a/services/b/proxy/some/path',
    '/api/v1/namespaces/a/pods/b/log?follow=true',
    '/api/v1/namespaces/a/pods/b/log?follow',
    '/kapis/tenant.kapis.io/v1alpha2/logs?follow=true',
  ]
  for (const target of long) it(`GET ${target} is`, () => expect(ask('GET', target)).to.equal(true))

  const short = [
    '/api/v1/pods',
    '/api/v1/pods?watch=false',
    '/api/v1/namespaces/a/pods/b/log',
    '/api/v1/namespaces/a/pods/b/log?follow=false',
    '/api/v1/namespaces/a/pods/exec',
    '/version?watch=true',
    '/exec',
    '/kapis/tenant.kapis.io/v1alpha2/logs',
    '/kapis/tenant.kapis.io/v1alpha2/logs?follow=false',
  ]
  for (const target of short) it(`GET ${target} is not`, () => expect(ask('GET', target)).to.equal(false))
})
