import { expect } from 'chai'
import type { HttpResponse } from '../e2e/cluster.ts'

/** Expects no 5xx response, and a Status or an OAuth error in each error response. */
export function expectWellFormed({ code, headers, body }: HttpResponse, what: string): void {
  expect(code, `${what}: ${body.slice(0, 500)}`).to.be.within(200, 499)
  if (code < 400 || !String(headers['content-type']).startsWith('application/json')) return
  const response = JSON.parse(body)
  if (typeof response.error === 'string') {
    expectOAuthError(response, what)
    return
  }
  expect(response, what).to.include({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code })
  expect(response.message, what).to.match(/^.+/)
  expect(response.message, what).to.not.match(/undefined|\[object| at .*\.ts/)
}

/** Expects a description with the characters that RFC 6749 section 5.2 allows. */
function expectOAuthError(response: { error_description?: unknown }, what: string): void {
  expect(String(response.error_description ?? ''), what).to.match(/^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/)
}
