import { readFileSync } from 'node:fs'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Server } from './server.ts'

export type Answer = { readonly code: number; readonly headers: IncomingHttpHeaders; readonly text: string }

export type Ask = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const timeoutMs = 30_000

/**
 * One request to the platform. Redirects are not followed: a token must not go where it was not meant to go.
 *
 * @param target a path of the server, or a URL that its discovery names
 */
export async function ask(server: Server, target: string, options: Ask = {}): Promise<Answer> {
  const url = new URL(target, server.url)
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const ca = server.caFile === '' ? {} : { ca: readFileSync(server.caFile) }
  const request = url.protocol === 'http:' ? httpRequest : httpsRequest
  const settings = {
    ...ca,
    method: options.method ?? 'GET',
    headers: options.headers ?? {},
    agent: false as const,
  }
  const req = request(url, { ...settings, timeout: timeoutMs }, async res => {
    try {
      const text = Buffer.concat(await res.toArray()).toString('utf8')
      resolve({ code: res.statusCode ?? 0, headers: res.headers, text })
    } catch (error) {
      reject(error)
    }
  })
  req.on('timeout', () => req.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)))
  req.on('error', error => reject(new Error(`${url.origin}: ${error.message}`)))
  req.end(options.body)
  return promise
}

/** The JSON object of an answer; {} when it is none. */
export function parseJson({ text }: Answer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}
  } catch {
    return {}
  }
}

/** What the server says of a failure, in its own words: Status or OAuth error. */
export function toError(answer: Answer, what: string): Error {
  const { message, error, error_description: description } = parseJson(answer)
  const said = [message, description, error].find(text => typeof text === 'string' && text !== '')
  const retry = answer.headers['retry-after']
  const later = answer.code === 429 && retry !== undefined ? ` (try again in ${retry} s)` : ''
  return new Error(`${what}: ${said ?? `the server answered ${answer.code}`}${later}`)
}
